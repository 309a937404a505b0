// Every key, made from the table of actions.
import QtQuick
import QtQuick.Controls
import uopscope.core

Popup {
    id: popup
    objectName: "keysSheet"
    parent: Overlay.overlay
    anchors.centerIn: parent
    width: Math.min(parent.width - Theme.px(60), Theme.px(1080))
    height: Math.min(parent.height - Theme.px(60), Theme.px(800))
    padding: Theme.px(24)
    modal: true
    focus: true
    Overlay.modal: Rectangle { color: Theme.dark ? "#80000000" : "#40000000" }
    background: Rectangle { radius: 12; color: Theme.raised; border.color: Theme.lineStrong }
    enter: Transition { enabled: Theme.animated; NumberAnimation { property: "opacity"; from: 0; to: 1; duration: 90 } }
    readonly property var groups: {
        const order = [], by = {};
        for (const a of Session.actions) {
            if (by[a.group] === undefined) { by[a.group] = []; order.push(a.group); }
            by[a.group].push(a);
        }
        return order.map(name => ({ name: name, actions: by[name] }));
    }
    contentItem: Item {
        ULabel { id: heading; text: qsTr("Keys"); font.pixelSize: Theme.px(19); font.weight: Font.DemiBold }
        UButton { anchors.right: parent.right; icon16: "close"; tip: qsTr("Close (Esc)"); onClicked: popup.close() }
        Flickable {
            y: Theme.px(42)
            width: parent.width
            height: parent.height - y
            contentHeight: flow.height
            clip: true
            boundsBehavior: Flickable.StopAtBounds
            ScrollBar.vertical: UScrollBar {}
            Row {
                id: flow
                spacing: Theme.px(36)
                readonly property int columns: Math.max(1, Math.min(3, Math.floor((parent.width + spacing) / Theme.px(310))))
                readonly property real cell: (popup.width - 2 * popup.padding - Theme.px(14) - (columns - 1) * spacing) / columns
                Repeater {
                    model: flow.columns
                    Column {
                        id: stack
                        required property int index
                        width: flow.cell
                        spacing: Theme.px(20)
                        Repeater {
                            // Groups dealt out so that columns are about equally long.
                            model: {
                                const lengths = Array(flow.columns).fill(0), mine = [];
                                for (const g of popup.groups) {
                                    let least = 0;
                                    for (let i = 1; i < lengths.length; ++i) if (lengths[i] < lengths[least]) least = i;
                                    lengths[least] += g.actions.length + 2;
                                    if (least === stack.index) mine.push(g);
                                }
                                return mine;
                            }
                            Column {
                                id: group
                                required property var modelData
                                width: stack.width
                                spacing: Theme.px(5)
                                ULabel { text: group.modelData.name.toUpperCase(); color: Theme.accent; font.pixelSize: Theme.px(10.5); font.weight: Font.DemiBold; font.letterSpacing: 0.9; bottomPadding: Theme.px(3) }
                                Repeater {
                                    model: group.modelData.actions
                                    Item {
                                        id: line
                                        required property var modelData
                                        width: group.width
                                        height: Theme.px(22)
                                        ULabel { width: parent.width - caps.width - Theme.px(8); height: parent.height; text: line.modelData.text; font.pixelSize: Theme.px(12); color: Theme.textMuted }
                                        Row {
                                            id: caps
                                            anchors.right: parent.right
                                            anchors.verticalCenter: parent.verticalCenter
                                            spacing: Theme.px(4)
                                            Repeater { model: line.modelData.caps; KeyCap { required property string modelData; text: modelData } }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
