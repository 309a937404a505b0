// The first page, before a file is open: how to begin, samples, recent traces, and suggestions to try.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: page
    color: Theme.canvas
    signal openAsked()
    // The uses of the window; each begins in a sample at a suitable place.
    readonly property var tries: [
        { sample: "softmax.py", link: "tab=graph", title: qsTr("Step through rewrites"), about: qsTr("softmax.py: each rewrite of each pass, as a graph in which nothing jumps."), keys: [["→", qsTr("next rewrite")], ["↓", qsTr("next pass")], ["W", qsTr("why did a rule not fire")]] },
        { sample: "matmul.py", link: "tab=compare", title: qsTr("See what changed"), about: qsTr("matmul.py: any two states side by side, as a graph, as text, as code."), keys: [["X", qsTr("remember a state")], ["Shift X", qsTr("compare with it")]] },
        { sample: "softmax.py", link: "tab=links", title: qsTr("Follow a line to the machine"), about: qsTr("softmax.py: script, tensor operation, rewrites, UOps, kernel and assembly; a click in one shows it in all."), keys: [["F9", qsTr("presenter")], ["Ctrl +", qsTr("larger text")]] },
        { sample: "transformer_block.py", link: "tab=profile", title: qsTr("Find what compiling costs"), about: qsTr("transformer_block.py: by schedule, kernel, pass and rule; which rules are tried in vain."), keys: [["Ctrl 6", qsTr("match statistics")], ["Ctrl 9", qsTr("SQL")]] }
    ]
    function sample(name) {
        for (const s of Session.preferences.samples) if (s.name === name) return s.path;
        return "";
    }
    Flickable {
        anchors.fill: parent
        contentHeight: Math.max(height, column.implicitHeight + Theme.px(80))
        boundsBehavior: Flickable.StopAtBounds
        ColumnLayout {
            id: column
            width: Math.min(page.width - Theme.px(80), Theme.px(1040))
            x: (page.width - width) / 2
            y: Math.max(Theme.px(36), (page.height - implicitHeight) / 2.4)
            spacing: Theme.px(8)
            ULabel { text: qsTr("See a tensor compiler at work"); font.pixelSize: Theme.huge; font.weight: Font.DemiBold }
            ULabel {
                text: qsTr("Open a model script: it runs under a recorder, and every graph rewrite of its compilation can be stepped through, forwards and backwards.")
                color: Theme.textMuted
                font.pixelSize: Theme.px(14)
                wrapMode: Text.Wrap
                lineHeight: 1.25
                Layout.fillWidth: true
            }
            Flow {
                Layout.fillWidth: true
                Layout.topMargin: Theme.px(12)
                Layout.bottomMargin: Theme.px(20)
                spacing: Theme.px(12)
                UButton { objectName: "welcomeOpen"; primary: true; icon16: "open"; text: qsTr("Open a script or a trace"); implicitHeight: Theme.px(36); onClicked: page.openAsked() }
                UButton { objectName: "welcomeCompare"; quiet: false; text: qsTr("Compare two replays or traces"); implicitHeight: Theme.px(36); onClicked: Session.trigger("replay") }
                ULabel { text: qsTr("or drop a file here, or two to compare"); width: Math.min(implicitWidth, column.width); height: Theme.px(36); verticalAlignment: Text.AlignVCenter; color: Theme.textFaint }
            }
            GridLayout { // samples beside what to try with them, or above it
                columns: column.width < Theme.px(640) ? 1 : 2
                Layout.fillWidth: true
                columnSpacing: Theme.px(36)
                rowSpacing: Theme.px(24)
                ColumnLayout {
                    Layout.fillWidth: true
                    Layout.preferredWidth: 480
                    Layout.alignment: Qt.AlignTop
                    spacing: Theme.px(6)
                    ULabel { text: qsTr("Samples"); font.weight: Font.DemiBold; Layout.bottomMargin: Theme.px(2) }
                    Repeater {
                        model: Session.preferences.samples
                        Rectangle {
                            id: card
                            required property var modelData
                            Layout.fillWidth: true
                            implicitHeight: about.implicitHeight + Theme.px(32)
                            radius: 8
                            color: area.containsMouse ? Theme.hover : Theme.raised
                            border.color: area.containsMouse ? Theme.accent : Theme.line
                            Icon { name: "script"; x: Theme.px(14); width: Theme.px(18); height: width; color: Theme.accent; anchors.verticalCenter: parent.verticalCenter }
                            Column {
                                x: Theme.px(44)
                                width: parent.width - Theme.px(58)
                                anchors.verticalCenter: parent.verticalCenter
                                spacing: Theme.px(2)
                                ULabel { width: parent.width; text: card.modelData.name; font.weight: Font.DemiBold }
                                ULabel { id: about; width: parent.width; text: card.modelData.about; color: Theme.textMuted; font.pixelSize: Theme.small; wrapMode: Text.Wrap; elide: Text.ElideNone }
                            }
                            UArea { id: area; objectName: "sample-" + card.modelData.name; radius: 8; anchors.fill: parent; cursorShape: Qt.PointingHandCursor; name: card.modelData.name + ": " + card.modelData.about; onClicked: Session.open(card.modelData.path) }
                        }
                    }
                    ULabel { visible: Session.preferences.samples.length === 0; text: qsTr("No samples folder was found beside the program."); color: Theme.textFaint }
                }
                ColumnLayout {
                    Layout.fillWidth: true
                    Layout.preferredWidth: 420
                    Layout.alignment: Qt.AlignTop
                    spacing: Theme.px(6)
                    ULabel { text: qsTr("What to try"); font.weight: Font.DemiBold; Layout.bottomMargin: Theme.px(2); visible: tries.count > 0 }
                    Repeater {
                        id: tries
                        model: page.tries.filter(t => page.sample(t.sample).length > 0)
                        Rectangle {
                            id: trial
                            required property var modelData
                            required property int index
                            objectName: "try" + index
                            Layout.fillWidth: true
                            implicitHeight: words.implicitHeight + Theme.px(20)
                            radius: 8
                            color: trialArea.containsMouse ? Theme.hover : Theme.raised
                            border.color: trialArea.containsMouse ? Theme.accent : Theme.line
                            function go() { Session.openAt(page.sample(modelData.sample), modelData.link); }
                            Column {
                                id: words
                                x: Theme.px(14)
                                width: parent.width - Theme.px(28)
                                anchors.verticalCenter: parent.verticalCenter
                                spacing: Theme.px(4)
                                ULabel { width: parent.width; text: trial.modelData.title; font.weight: Font.DemiBold }
                                ULabel { width: parent.width; text: trial.modelData.about; color: Theme.textMuted; font.pixelSize: Theme.small; wrapMode: Text.Wrap; elide: Text.ElideNone }
                                Flow {
                                    width: parent.width
                                    spacing: Theme.px(12)
                                    Repeater {
                                        model: trial.modelData.keys
                                        Row {
                                            required property var modelData
                                            spacing: Theme.px(6)
                                            KeyCap { text: parent.modelData[0] }
                                            ULabel { text: parent.modelData[1]; color: Theme.textFaint; font.pixelSize: Theme.small; height: Theme.px(20) }
                                        }
                                    }
                                }
                            }
                            UArea { id: trialArea; radius: 8; anchors.fill: parent; cursorShape: Qt.PointingHandCursor; name: trial.modelData.title + ": " + trial.modelData.about; onClicked: trial.go() }
                        }
                    }
                    ULabel { text: qsTr("Recent"); font.weight: Font.DemiBold; visible: Session.preferences.recent.length > 0; Layout.topMargin: Theme.px(12) }
                    Repeater {
                        model: Session.preferences.recent
                        ULabel {
                            id: recent
                            required property string modelData
                            text: modelData.substring(modelData.lastIndexOf("/") + 1)
                            color: recentArea.containsMouse ? Theme.accent : Theme.textMuted
                            Layout.fillWidth: true
                            UArea { id: recentArea; objectName: "recent-" + recent.text; anchors.fill: parent; cursorShape: Qt.PointingHandCursor; name: recent.text; Accessible.description: recent.modelData; onClicked: Session.open(recent.modelData) }
                            UTip { visible: recentArea.containsMouse; delay: 500; text: recent.modelData }
                        }
                    }
                    Flow {
                        Layout.fillWidth: true
                        Layout.topMargin: Theme.px(12)
                        spacing: Theme.px(12)
                        Repeater {
                            model: [["?", qsTr("all keys")], ["Ctrl Shift P", qsTr("all commands")]]
                            Row {
                                required property var modelData
                                spacing: Theme.px(6)
                                KeyCap { text: parent.modelData[0] }
                                ULabel { text: parent.modelData[1]; color: Theme.textFaint; font.pixelSize: Theme.small; height: Theme.px(20) }
                            }
                        }
                    }
                }
            }
        }
    }
}
