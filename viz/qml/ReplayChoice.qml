// Chooses the two sides of a comparison: chosen files, dropped files, or this build.
import QtQuick
import QtQuick.Layouts
import uopscope.core

Item {
    id: choice
    signal fileAsked(var then)
    UScroll {
        anchors.fill: parent
        needed: column.implicitHeight + Theme.px(40)
        ColumnLayout {
            id: column
            anchors.centerIn: parent
            width: Math.min(parent.width - Theme.px(60), Theme.px(640))
            spacing: Theme.px(10)
            ULabel { text: qsTr("Which kernels changed, and why"); Layout.fillWidth: true; font.pixelSize: Theme.huge; font.weight: Font.DemiBold }
            ULabel {
                text: qsTr("Two corpora of compilations (uopscope replay capture), their replays by other builds, or two traces of one script: every kernel is compared, and the first rewrite at which its two compilations part is found.")
                color: Theme.textMuted
                wrapMode: Text.Wrap
                lineHeight: 1.25
                Layout.fillWidth: true
                Layout.bottomMargin: Theme.px(8)
            }
            Rectangle {
                visible: Tools.replay.errorText.length > 0
                Layout.fillWidth: true
                implicitHeight: problem.implicitHeight + Theme.px(16)
                radius: 8
                color: Theme.raised
                border.color: Theme.error
                ULabel { id: problem; objectName: "replayError"; x: Theme.px(12); y: Theme.px(8); width: parent.width - Theme.px(24); text: Tools.replay.errorText; color: Theme.text; wrapMode: Text.Wrap }
            }
            Repeater {
                model: [{side: "before", sign: "−", label: qsTr("Before"), file: Tools.replay.before}, {side: "after", sign: "+", label: qsTr("After"), file: Tools.replay.after}]
                Rectangle {
                    id: place
                    required property var modelData
                    Layout.fillWidth: true
                    implicitHeight: Theme.px(52)
                    radius: 8
                    color: Theme.raised
                    border.color: Theme.line
                    RowLayout {
                        anchors.fill: parent
                        anchors.leftMargin: Theme.px(14)
                        anchors.rightMargin: Theme.px(10)
                        spacing: Theme.px(10)
                        ULabel { text: place.modelData.sign; font.bold: true; color: place.modelData.side === "before" ? Theme.removed : Theme.added }
                        ULabel { text: place.modelData.label; font.weight: Font.DemiBold; Layout.preferredWidth: Theme.px(60) }
                        ULabel {
                            text: place.modelData.file.length > 0 ? place.modelData.file : place.modelData.side === "before" ? qsTr("a .uopcorpus or .uoptrace file") : qsTr("another one")
                            color: place.modelData.file.length > 0 ? Theme.text : Theme.textFaint
                            elide: Text.ElideMiddle
                            Layout.fillWidth: true
                        }
                        UButton {
                            objectName: "replayBuild"
                            visible: place.modelData.side === "after" && Tools.replay.before.endsWith(".uopcorpus")
                            text: qsTr("This build")
                            quiet: false
                            onClicked: Tools.replay.compareWithBuild()
                        }
                        UButton {
                            objectName: "replayChoose-" + place.modelData.side
                            enabled: place.modelData.side === "before" || Tools.replay.before.length > 0
                            text: qsTr("Choose…")
                            quiet: false
                            icon16: "open"
                            onClicked: choice.fileAsked(place.modelData.side === "before" ? path => { Tools.replay.clear(); Tools.replay.openFiles([path]); } : path => Tools.replay.openFiles([Tools.replay.before, path]))
                        }
                    }
                }
            }
            ULabel { text: qsTr("Files may be dropped here, two at once too."); color: Theme.textFaint }
            UButton { objectName: "replayBack"; text: qsTr("Back"); onClicked: Tools.replay.shown = false }
        }
    }
}
