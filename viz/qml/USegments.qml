// A few options side by side, one of them chosen. options: [{value, text}]. Where the width is too small they take
// several lines.
import QtQuick
import uopscope.core

Rectangle {
    id: segments
    property var options: []
    property string value: ""
    signal picked(string value)
    property real line: Theme.px(24) ///< the height of an option
    readonly property Flow flow: parent as Flow
    readonly property real wanted: { let sum = 4; for (let k = 0; k < repeater.count; ++k) sum += repeater.itemAt(k)?.width ?? 0; return Math.ceil(sum); }
    implicitWidth: flow && flow.width > 0 ? Math.min(wanted, flow.width) : wanted
    implicitHeight: (repeater.count > 0 ? repeater.itemAt(repeater.count - 1)?.y ?? 0 : 0) + line + 4
    radius: 6
    color: Theme.window
    border.color: Theme.line
    // One stop of the keyboard: the chosen option; arrows choose its neighbours.
    function move(from, by) {
        const to = Math.max(0, Math.min(options.length - 1, from + by));
        picked(options[to].value);
        repeater.itemAt(to).take();
    }
    // Places are sums of widths, known at once: a Flow would tell its height a frame later.
    Item {
        id: row
        x: 2
        y: 2
        width: parent.width - 4
        Repeater {
            id: repeater
            model: segments.options
            Rectangle {
                id: choice
                objectName: segments.objectName + "-" + modelData.value
                required property var modelData
                required property int index
                function take() { area.forceActiveFocus(); }
                readonly property bool taken: segments.value === modelData.value
                readonly property Item before: index > 0 ? repeater.itemAt(index - 1) : null
                readonly property real end: before ? before.x + before.width : 0
                readonly property bool fits: end + width <= row.width + 0.5
                x: fits ? end : 0
                y: before ? before.y + (fits ? 0 : segments.line) : 0
                width: label.implicitWidth + Theme.px(18)
                height: segments.line
                radius: 5
                color: taken ? Theme.selection : area.containsMouse ? Theme.hover : "transparent"
                ULabel {
                    id: label
                    anchors.centerIn: parent
                    text: parent.modelData.text
                    color: parent.taken ? Theme.text : Theme.textMuted
                    font.pixelSize: Theme.small
                    font.weight: parent.taken ? Font.DemiBold : Font.Normal
                }
                UArea {
                    id: area
                    anchors.fill: parent
                    stop: choice.taken
                    name: choice.modelData.text
                    Accessible.role: Accessible.RadioButton
                    Accessible.checkable: true
                    Accessible.checked: choice.taken
                    Keys.onShortcutOverride: event => event.accepted = [Qt.Key_Left, Qt.Key_Right, Qt.Key_Space, Qt.Key_Return].indexOf(event.key) >= 0
                    Keys.onLeftPressed: segments.move(choice.index, -1)
                    Keys.onRightPressed: segments.move(choice.index, 1)
                    onClicked: segments.picked(choice.modelData.value)
                }
            }
        }
    }
}
