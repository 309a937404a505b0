// Script, tensor operations, rewrites, UOps, kernel and assembly side by side: a selection in one is shown in
// all, and lines of one tensor operation have one colour in all.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    objectName: "linksPane"
    color: Theme.canvas
    onVisibleChanged: if (visible) Tools.linked.load()
    component Lines: ColumnLayout {
        id: lines
        property string title: ""
        property string which: ""
        property LinkedLines model
        property string hint: ""
        spacing: 0
        SplitView.minimumWidth: Math.min(Theme.px(110), pane.width * 0.12)
        PaneHeader { Layout.fillWidth: true; title: lines.title; detail: lines.model.litCount > 0 ? lines.model.litCount + " / " + lines.model.count : lines.model.count }
        UList {
            id: list
            objectName: "linked-" + lines.which
            name: lines.title
            Layout.fillWidth: true
            Layout.fillHeight: true
            model: lines.model
            reuseItems: true
            onTaken: index => { if (lines.which !== "rewrites") Tools.linked.select(lines.which, index); else Tools.linked.follow("rewrites", index); }
            Connections { target: lines.model; function onLitChanged() { if (lines.model.firstLit >= 0 && !list.moving) list.positionViewAtIndex(lines.model.firstLit, ListView.Contain); } }
            delegate: URow {
                id: row
                owner: list
                at: index
                label: text || qsTr("empty line")
                chosen: lit
                onDoubleClicked: if (lines.which === "uops") Tools.linked.follow("uops", index)
                required property int index
                required property string html
                required property string text
                required property bool lit
                required property bool known
                required property int number
                required property int colour
                required property string of
                width: list.width
                height: Theme.px(20)
                clip: true
                Rectangle { visible: row.colour >= 0; anchors.fill: parent; color: Theme.dark, Theme.tintColour(row.colour, false); opacity: row.lit ? 0.34 : 0.14 }
                Rectangle { objectName: "rainbow"; visible: row.colour >= 0; x: Theme.px(37); width: Theme.px(3); height: parent.height; color: Theme.dark, Theme.tintColour(row.colour, false) }
                Rectangle { visible: row.lit; width: Theme.px(3); height: parent.height; color: Theme.accent }
                ULabel { x: Theme.px(4); width: Theme.px(30); height: parent.height; horizontalAlignment: Text.AlignRight; text: row.number; color: row.known ? Theme.accent : Theme.textFaint; font.pixelSize: Theme.px(10.5) }
                Text { id: line; x: Theme.px(42); width: row.width - x - Theme.px(4); elide: Text.ElideRight; height: parent.height; verticalAlignment: Text.AlignVCenter; text: Theme.rich(row.html, Theme.dark); textFormat: Text.StyledText; font.family: Theme.mono; font.pixelSize: Theme.px(11.5); font.weight: row.lit ? Font.DemiBold : Font.Normal; color: Theme.text }
                UTip { visible: row.hovered && (row.of.length > 0 || line.truncated); delay: 500; text: row.text + (row.of.length > 0 && row.of !== row.text ? "\n" + qsTr("of %1").arg(row.of) : "") }
            }
            footer: list.count === 0 ? hint : null
            Component { id: hint; ULabel { width: list.width; padding: Theme.px(8); wrapMode: Text.Wrap; elide: Text.ElideNone; color: Theme.textFaint; font.pixelSize: Theme.small; text: lines.hint } }
        }
    }
    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        Rectangle {
            Layout.fillWidth: true
            implicitHeight: Theme.px(30)
            color: Theme.panel
            ULabel { objectName: "linkedCost"; x: Theme.px(12); width: parent.width - Theme.px(24); anchors.verticalCenter: parent.verticalCenter; text: Tools.linked.missing.length > 0 ? Tools.linked.missing : Session.scopeName + ": " + Tools.linked.cost; color: Theme.textMuted; font.pixelSize: Theme.small }
            Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
        }
        USplit { // where five columns would be too narrow to read, what is made lies below what it is made of
            readonly property bool stacked: pane.width < Theme.px(900)
            Layout.fillWidth: true
            Layout.fillHeight: true
            orientation: stacked ? Qt.Vertical : Qt.Horizontal
            USplit {
                SplitView.preferredWidth: pane.width * 0.55
                SplitView.preferredHeight: pane.height * 0.45
                Lines { title: qsTr("Script"); which: "script"; model: Tools.linked.script; SplitView.preferredWidth: parent.width * 0.36; hint: qsTr("This trace does not hold its script.") }
                USplit {
                    orientation: Qt.Vertical
                    SplitView.preferredWidth: parent.width * 0.28
                    Lines { title: qsTr("Tensor"); which: "tensors"; model: Tools.linked.tensors; SplitView.preferredHeight: parent.height * 0.4; hint: qsTr("No operation of the script is known.") }
                    Lines { title: qsTr("Rewrites"); which: "rewrites"; model: Tools.linked.rewrites; SplitView.fillHeight: true; hint: qsTr("Select something: the rewrites that made it, oldest first. A click goes to one.") }
                }
                Lines { title: qsTr("UOps"); which: "uops"; model: Tools.linked.uops; SplitView.fillWidth: true; hint: qsTr("No linear program.") }
            }
            USplit {
                SplitView.fillWidth: true
                SplitView.fillHeight: true
                Lines { title: qsTr("Kernel"); which: "source"; model: Tools.linked.source; SplitView.fillWidth: true; hint: qsTr("No source was recorded.") }
                Lines { title: qsTr("Assembly"); which: "assembly"; model: Tools.linked.assembly; SplitView.preferredWidth: parent.width * 0.48; hint: qsTr("This device recorded no assembly.") }
            }
        }
    }
}
