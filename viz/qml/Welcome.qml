// What one sees before anything is open: how to begin, samples, recent traces, and what to try first.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: page
    color: Theme.canvas
    signal openAsked()
    Flickable {
        anchors.fill: parent
        contentHeight: Math.max(height, column.implicitHeight + Theme.px(80))
        boundsBehavior: Flickable.StopAtBounds
        ColumnLayout {
            id: column
            width: Math.min(page.width - Theme.px(80), Theme.px(880))
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
            RowLayout {
                Layout.topMargin: Theme.px(12)
                Layout.bottomMargin: Theme.px(20)
                spacing: Theme.px(12)
                UButton { objectName: "welcomeOpen"; primary: true; icon16: "open"; text: qsTr("Open a script or a trace"); implicitHeight: Theme.px(36); onClicked: page.openAsked() }
                UButton { objectName: "welcomeCompare"; quiet: false; text: qsTr("Compare two replays or traces"); implicitHeight: Theme.px(36); onClicked: Session.trigger("replay") }
                ULabel { text: qsTr("or drop a file here, or two to compare"); color: Theme.textFaint }
            }
            RowLayout {
                Layout.fillWidth: true
                spacing: Theme.px(36)
                ColumnLayout {
                    Layout.fillWidth: true
                    Layout.preferredWidth: 560
                    Layout.alignment: Qt.AlignTop
                    spacing: Theme.px(6)
                    ULabel { text: qsTr("Samples"); font.weight: Font.DemiBold; Layout.bottomMargin: Theme.px(2) }
                    Repeater {
                        model: Session.samples
                        Rectangle {
                            id: card
                            required property var modelData
                            Layout.fillWidth: true
                            implicitHeight: Theme.px(50)
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
                                ULabel { width: parent.width; text: card.modelData.about; color: Theme.textMuted; font.pixelSize: Theme.small }
                            }
                            UArea { id: area; objectName: "sample-" + card.modelData.name; radius: 8; anchors.fill: parent; cursorShape: Qt.PointingHandCursor; name: card.modelData.name + ": " + card.modelData.about; onClicked: Session.open(card.modelData.path) }
                        }
                    }
                    ULabel { visible: Session.samples.length === 0; text: qsTr("No samples folder was found beside the program."); color: Theme.textFaint }
                }
                ColumnLayout {
                    Layout.preferredWidth: 300
                    Layout.alignment: Qt.AlignTop
                    spacing: Theme.px(8)
                    ULabel { text: qsTr("Recent"); font.weight: Font.DemiBold; visible: Session.recent.length > 0 }
                    Repeater {
                        model: Session.recent
                        ULabel {
                            required property string modelData
                            text: modelData.substring(modelData.lastIndexOf("/") + 1)
                            color: recentArea.containsMouse ? Theme.accent : Theme.textMuted
                            Layout.fillWidth: true
                            UArea { id: recentArea; objectName: "recent-" + parent.text; anchors.fill: parent; cursorShape: Qt.PointingHandCursor; name: parent.text; Accessible.description: parent.modelData; onClicked: Session.open(parent.modelData) }
                        }
                    }
                    ULabel { text: qsTr("To try"); font.weight: Font.DemiBold; Layout.topMargin: Session.recent.length > 0 ? Theme.px(12) : 0 }
                    Repeater {
                        model: [["→", qsTr("the next rewrite")], ["↓", qsTr("the next pass")], ["/", qsTr("search the graph")], ["Ctrl 6", qsTr("which rules cost what")], ["Ctrl P", qsTr("jump anywhere")], ["?", qsTr("all keys")]]
                        Row {
                            required property var modelData
                            spacing: Theme.px(10)
                            Item { width: Theme.px(48); height: Theme.px(20); KeyCap { text: parent.parent.modelData[0]; anchors.right: parent.right } }
                            ULabel { text: parent.modelData[1]; color: Theme.textMuted; height: Theme.px(20) }
                        }
                    }
                }
            }
        }
    }
}
