// Every rewrite of the pass, one per row.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    property bool marks: false
    /// A note was typed: the keyboard may go back to where it was.
    signal noted()
    property int asked: -1 ///< the mark whose note is wanted
    function askNote() { marksList.askNote(asked); }
    Connections {
        target: Tools.bookmarks
        function onNoteAsked(row: int) {
            if (!pane.visible) return;
            pane.marks = true;
            pane.asked = row;
            Qt.callLater(pane.askNote);
        }
    }
    color: Theme.panel
    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        Item {
            Layout.fillWidth: true
            implicitHeight: choice.height + Theme.px(10)
            ULabel {
                x: Theme.px(12)
                width: choice.x - x - Theme.px(8)
                height: parent.height
                visible: width > Theme.px(30)
                text: !pane.marks && Session.stepCount > 0 ? Session.passName : ""
                color: Theme.textFaint
                font.pixelSize: Theme.small
            }
            USegments {
                id: choice
                objectName: "stepsOrMarks"
                line: Theme.px(20)
                x: parent.width - width - Theme.px(6)
                y: Theme.px(5)
                width: Math.min(wanted, parent.width - Theme.px(12))
                options: [{value: "steps", text: qsTr("Steps")}, {value: "marks", text: qsTr("Marks %1").arg(Tools.bookmarks.count || "")}]
                value: pane.marks ? "marks" : "steps"
                onPicked: value => pane.marks = value === "marks"
            }
        }
        MarksList { id: marksList; visible: pane.marks; onNoted: pane.noted(); Layout.fillWidth: true; Layout.fillHeight: true }
        UList {
            id: list
            name: qsTr("Steps of %1").arg(Session.passName)
            start: Session.step - 1
            onTaken: index => Session.step = index + 1
            visible: !pane.marks
            objectName: "stepList"
            Layout.fillWidth: true
            Layout.fillHeight: true
            model: Session.steps
            reuseItems: true
            readonly property int wanted: Session.step - 1
            // A few rows ahead of the current one stay visible.
            onWantedChanged: {
                if (wanted < 0) return;
                positionViewAtIndex(Math.min(count - 1, wanted + 3), ListView.Contain);
                positionViewAtIndex(Math.max(0, wanted - 2), ListView.Contain);
                positionViewAtIndex(wanted, ListView.Contain);
            }
            delegate: URow {
                id: row
                owner: list
                at: index
                label: number + " " + rule + ": " + before + " → " + after + (reason.length > 0 ? ", " + qsTr("decided: %1").arg(reason) : "")
                chosen: current
                required property int index
                required property var number
                required property string rule
                required property string before
                required property string after
                required property string time
                required property string fault
                required property string reason
                readonly property bool current: number === Session.step
                width: list.width
                height: Theme.row
                opacity: number > Session.step ? 0.72 : 1
                Rectangle { visible: row.current; width: Theme.px(3); height: parent.height; color: Theme.accent }
                // The name of the rule comes first; what it made of what has the rest, and ends with dots.
                readonly property real free: width - digits.Layout.preferredWidth - (decided.visible ? decided.implicitWidth + Theme.px(8) : 0) - (fault.length > 0 ? Theme.px(44) : 0) - Theme.px(30)
                readonly property real named: Math.max(0, Math.min(name.implicitWidth, free))
                readonly property real rest: free - named - Theme.px(8)
                RowLayout {
                    anchors.fill: parent
                    anchors.leftMargin: Theme.px(10)
                    anchors.rightMargin: Theme.px(12)
                    spacing: Theme.px(8)
                    ULabel {
                        id: digits
                        text: row.number
                        color: Theme.textFaint
                        font.pixelSize: Theme.small
                        horizontalAlignment: Text.AlignRight
                        Layout.preferredWidth: Theme.px(9) * Math.max(2, String(Session.stepCount).length)
                    }
                    ULabel {
                        id: name
                        objectName: "stepRule"
                        text: row.rule
                        Layout.fillWidth: true
                        Layout.minimumWidth: row.named
                        color: row.fault === "error" ? Theme.error : Theme.text
                        font.weight: row.current ? Font.DemiBold : Font.Normal
                    }
                    ULabel { id: decided; objectName: "decidedMark"; visible: row.reason.length > 0; text: "◆"; color: Theme.accent; font.pixelSize: Theme.small }
                    ULabel {
                        visible: row.rest > Theme.px(36) || row.fault.length > 0
                        text: row.fault === "error" ? qsTr("failed") : row.fault === "unchanged" ? qsTr("no change") : row.before === row.after ? row.before : row.before + " → " + row.after
                        color: row.fault.length > 0 ? Theme.warning : Theme.textMuted
                        font.pixelSize: Theme.px(10.5)
                        Layout.maximumWidth: Math.max(Theme.px(36), Math.min(row.rest, row.width * 0.5))
                    }
                }
                UTip { visible: row.hovered; delay: 900; x: row.width + Theme.px(8); y: 0; text: row.rule + "\n" + row.before + " → " + row.after + "\n" + row.time + (row.reason.length > 0 ? "\n◆ " + row.reason : "") }
            }
            ULabel {
                visible: list.count === 0
                text: qsTr("No rule was applied in this pass.")
                color: Theme.textFaint
                x: Theme.px(14)
                y: Theme.px(4)
            }
        }
    }
}
