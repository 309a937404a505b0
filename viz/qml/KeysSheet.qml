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
        for (const a of Session.preferences.actions) {
            if (by[a.group] === undefined) { by[a.group] = []; order.push(a.group); }
            by[a.group].push(a);
        }
        return order.map(name => ({ name: name, actions: by[name] }));
    }
    property string changing: ""
    onClosed: changing = ""
    // The name of the pressed key, as the table writes it.
    function keyName(event) {
        const names = { [Qt.Key_Left]: "Left", [Qt.Key_Right]: "Right", [Qt.Key_Up]: "Up", [Qt.Key_Down]: "Down", [Qt.Key_Space]: "Space", [Qt.Key_Return]: "Return", [Qt.Key_Home]: "Home", [Qt.Key_End]: "End", [Qt.Key_PageUp]: "PgUp", [Qt.Key_PageDown]: "PgDown", [Qt.Key_Delete]: "Del", [Qt.Key_Insert]: "Ins" };
        let key = names[event.key] || "";
        if (event.key >= Qt.Key_F1 && event.key <= Qt.Key_F12) key = "F" + (event.key - Qt.Key_F1 + 1);
        if (key.length === 0 && event.key > 0x20 && event.key < 0x7f) key = String.fromCharCode(event.key);
        if (key.length === 0) return "";
        return (event.modifiers & Qt.ControlModifier ? "Ctrl+" : "") + (event.modifiers & Qt.AltModifier ? "Alt+" : "") + (event.modifiers & Qt.ShiftModifier ? "Shift+" : "") + key;
    }
    contentItem: Item {
        Item {
            id: catcher
            focus: true
            Keys.onPressed: event => {
                if (popup.changing.length === 0) return;
                event.accepted = true;
                if (event.key === Qt.Key_Escape) { popup.changing = ""; return; }
                if (event.key === Qt.Key_Backspace) { Session.preferences.setKeys(popup.changing, ""); popup.changing = ""; return; }
                const key = popup.keyName(event);
                if (key.length > 0 && Session.preferences.setKeys(popup.changing, key)) popup.changing = "";
            }
        }
        ULabel { anchors.left: heading.right; anchors.leftMargin: Theme.px(14); anchors.baseline: heading.baseline; color: Theme.textMuted; font.pixelSize: Theme.small; text: popup.changing.length > 0 ? qsTr("press the new key; Backspace for none, Esc to leave it") : qsTr("click a line to change its key, double-click for the one it had") }
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
                            // Distributes groups over columns of similar length.
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
                                        readonly property bool asking: popup.changing === modelData.id
                                        Rectangle { anchors.fill: parent; anchors.leftMargin: -Theme.px(4); radius: 4; color: line.asking ? Theme.selection : lineArea.containsMouse ? Theme.hover : "transparent" }
                                        UArea {
                                            id: lineArea
                                            objectName: "keyOf-" + line.modelData.id
                                            anchors.fill: parent
                                            name: line.modelData.text + ": " + line.modelData.caps.join(qsTr(" or "))
                                            onClicked: { popup.changing = line.asking ? "" : line.modelData.id; catcher.forceActiveFocus(); }
                                            onDoubleClicked: { popup.changing = ""; Session.preferences.setKeys(line.modelData.id, "default"); }
                                        }
                                        ULabel { width: parent.width - caps.width - Theme.px(8); height: parent.height; text: line.modelData.text; font.pixelSize: Theme.px(12); color: Theme.textMuted }
                                        Row {
                                            id: caps
                                            visible: !line.asking
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
