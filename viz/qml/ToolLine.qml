// A text and, at the right, controls. In a narrow pane the text has a line of its own, and the controls take as many
// lines as they need.
//
//   ToolLine { text: kernel; detail: qsTr("%1 lines").arg(n);  UButton { icon16: "copy" } }
import QtQuick
import uopscope.core

Item {
    id: line
    property string text: ""
    property string detail: "" ///< fainter, after the text
    property alias label: label
    property alias more: more
    property real least: Theme.px(120) ///< what is left for a long text before it gets its own line
    default property alias controls: flow.data
    readonly property real whole: { let sum = 0; for (let k = 0; k < flow.children.length; ++k) { const c = flow.children[k]; if (c?.visible) sum += (c.wanted ?? c.width) + flow.spacing; } return Math.ceil(sum); }
    readonly property real rest: width - Math.min(whole, width)
    readonly property real wanted: label.implicitWidth + (detail.length > 0 ? more.implicitWidth + Theme.px(8) : 0)
    readonly property bool stacked: wanted > 0 && rest < Math.min(wanted, least)
    implicitHeight: stacked ? label.height + flow.height : Math.max(label.height, flow.height)
    ULabel {
        id: label
        width: Math.min(implicitWidth, line.stacked ? line.width : line.rest)
        height: Theme.px(28)
        text: line.text
        color: Theme.textMuted
        font.pixelSize: Theme.small
    }
    ULabel {
        id: more
        visible: text.length > 0 && width > Theme.px(20)
        x: label.width + Theme.px(8)
        width: Math.min(implicitWidth, (line.stacked ? line.width : line.rest) - x)
        height: label.height
        text: line.detail
        color: Theme.textFaint
        font.pixelSize: Theme.small
    }
    Flow {
        id: flow
        x: line.stacked ? 0 : line.width - width
        y: line.stacked ? label.height : 0
        width: Math.min(line.whole, line.width)
        spacing: Theme.px(6)
    }
}
