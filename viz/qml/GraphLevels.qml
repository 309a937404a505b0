// The levels of layers above a graph: a click leads back up.
//
//   GraphLevels { width: parent.width }   // no height where the graph has no levels
import QtQuick
import uopscope.core

Rectangle {
    visible: Tools.graph.levels.length > 0
    height: visible ? trail.height + Theme.px(12) : 0
    color: Theme.panel
    Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
    Flow {
        id: trail
        x: Theme.px(10)
        y: Theme.px(6)
        width: parent.width - Theme.px(20)
        spacing: Theme.px(6)
        Repeater {
            model: Tools.graph.levels
            UChip {
                required property var modelData
                required property int index
                readonly property bool here: index === Tools.graph.levels.length - 1
                objectName: "level-" + index
                sign: index === 0 ? "▣" : "›"
                text: modelData.text
                tone: here ? Theme.accent : Theme.textMuted
                link: !here
                onClicked: Tools.graph.openLevel(modelData.path)
            }
        }
        ULabel { visible: Session.graph.outside > 0; height: Theme.px(21); verticalAlignment: Text.AlignVCenter; text: Session.graph.outside === 1 ? qsTr("1 node elsewhere") : qsTr("%1 nodes elsewhere").arg(Session.graph.outside); font.pixelSize: Theme.small; color: Theme.textFaint }
    }
}
