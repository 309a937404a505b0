// The story of the kernel in front: chapters, a sentence a pass. A click on a sentence goes to its pass.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    objectName: "storyPane"
    color: Theme.canvas
    function exporter() { return { kinds: ["html", "txt"], to: path => Tools.story.exportTo(path) }; }
    ListView {
        id: list
        objectName: "storyChapters"
        anchors.fill: parent
        anchors.leftMargin: Theme.px(20)
        anchors.rightMargin: Theme.px(20)
        clip: true
        boundsBehavior: Flickable.StopAtBounds
        cacheBuffer: 100000 // heights of all chapters are known, so the bar does not jump
        ScrollBar.vertical: UScrollBar {}
        activeFocusOnTab: true
        Accessible.role: Accessible.List
        Accessible.name: qsTr("Chapters of the story")
        model: Tools.story.chapters
        header: ULabel { width: list.width; topPadding: Theme.px(14); text: Tools.story.title; font.pixelSize: Theme.title; font.weight: Font.DemiBold }
        delegate: Column {
            id: chapter
            required property var modelData
            required property int index
            width: Math.min(list.width, Theme.px(860))
            spacing: Theme.px(5)
            topPadding: Theme.px(16)
            ULabel { objectName: "storyTitle" + chapter.index; width: parent.width; text: (chapter.index + 1) + ". " + chapter.modelData.title; font.weight: Font.DemiBold; wrapMode: Text.Wrap; elide: Text.ElideNone }
            ULabel { visible: text.length > 0; width: parent.width; text: chapter.modelData.about; color: Theme.textMuted; wrapMode: Text.Wrap; elide: Text.ElideNone }
            Repeater {
                model: chapter.modelData.sentences
                Rectangle {
                    id: sentence
                    required property var modelData
                    required property int index
                    readonly property bool leads: modelData.pass > 0
                    width: chapter.width
                    height: words.implicitHeight + Theme.px(6)
                    radius: 5
                    color: area.containsMouse && leads ? Theme.hover : "transparent"
                    Column {
                        id: words
                        x: Theme.px(12)
                        y: Theme.px(3)
                        width: parent.width - Theme.px(18)
                        spacing: 2
                        ULabel { width: parent.width; text: sentence.modelData.text; wrapMode: Text.Wrap; elide: Text.ElideNone }
                        Repeater {
                            model: sentence.modelData.details
                            ULabel { required property string modelData; width: words.width; leftPadding: Theme.px(10); text: modelData; mono: true; font.pixelSize: Theme.small; color: Theme.textMuted; wrapMode: Text.Wrap; elide: Text.ElideNone; maximumLineCount: 6 }
                        }
                    }
                    Rectangle { visible: sentence.leads; width: 2; height: parent.height - Theme.px(6); y: Theme.px(3); color: Theme.accent }
                    UArea { id: area; objectName: "storySentence" + chapter.index + "-" + sentence.index; anchors.fill: parent; enabled: sentence.leads; stop: sentence.leads; cursorShape: sentence.leads ? Qt.PointingHandCursor : Qt.ArrowCursor; name: sentence.modelData.text; onClicked: Tools.story.goTo(sentence.modelData.pass) }
                }
            }
            Rectangle {
                visible: chapter.modelData.code.length > 0
                width: parent.width
                height: code.implicitHeight + Theme.px(16)
                radius: 6
                color: Theme.panel
                border.color: Theme.line
                clip: true
                ULabel { id: code; x: Theme.px(10); y: Theme.px(8); width: parent.width - Theme.px(20); text: chapter.modelData.code; mono: true; font.pixelSize: Theme.small; wrapMode: Text.Wrap; elide: Text.ElideNone }
            }
        }
        footer: Item { width: 1; height: Theme.px(24) }
    }
    ULabel { visible: Tools.story.busy || Tools.story.problem.length > 0; anchors.centerIn: parent; width: parent.width - Theme.px(60); horizontalAlignment: Text.AlignHCenter; wrapMode: Text.Wrap; color: Theme.textMuted; text: Tools.story.busy ? qsTr("The story is being told …") : Tools.story.problem }
}
