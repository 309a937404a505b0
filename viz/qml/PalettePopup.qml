// Jumps to any place and runs any command. ">" lists commands, "#12" is a node, ":40" a step, "/text"
// searches nodes of the whole trace.
import QtQuick
import QtQuick.Controls
import uopscope.core

Popup {
    id: popup
    objectName: "palette"
    parent: Overlay.overlay
    x: (parent.width - width) / 2
    y: Theme.px(70)
    width: Math.min(parent.width - Theme.px(60), Theme.px(620))
    height: Math.min(parent.height - Theme.px(140), Theme.px(60) + Math.max(1, list.count) * Theme.px(32))
    padding: 0
    modal: true
    focus: true
    function ask(prefix) { Session.jump.prepare(); field.text = prefix; Session.jump.palette.query = prefix; list.currentIndex = 0; open(); field.forceActiveFocus(); }
    function accept() { const e = Session.jump.palette.entry(list.currentIndex); close(); if (e.target !== undefined) Session.jump.choose(e); }
    Overlay.modal: Rectangle { color: Theme.dark ? "#80000000" : "#40000000" }
    background: Rectangle { radius: 10; color: Theme.raised; border.color: Theme.lineStrong }
    enter: Transition { enabled: Theme.animated; NumberAnimation { property: "opacity"; from: 0; to: 1; duration: 90 } }
    contentItem: Column {
        UField {
            id: field
            objectName: "paletteField"
            readonly property URow row: list.currentItem as URow
            Accessible.description: row ? row.label : ""
            x: Theme.px(8)
            y: Theme.px(8)
            width: parent.width - Theme.px(16)
            height: Theme.px(36)
            hint: qsTr("Kernel, pass, rule, script line, #node, :step, /text anywhere, > for commands")
            font.pixelSize: Theme.px(14)
            onTextChanged: { Session.jump.palette.query = text; list.currentIndex = 0; }
            Keys.onDownPressed: list.incrementCurrentIndex()
            Keys.onUpPressed: list.decrementCurrentIndex()
            Keys.onReturnPressed: popup.accept()
            Keys.onEnterPressed: popup.accept()
        }
        Item { width: 1; height: Theme.px(14) }
        ListView {
            id: list
            width: parent.width
            height: parent.height - Theme.px(56)
            clip: true
            model: Session.jump.palette
            boundsBehavior: Flickable.StopAtBounds
            ScrollBar.vertical: UScrollBar {}
            delegate: Rectangle {
                id: row
                required property int index
                required property string kind
                required property string html
                required property string detail
                readonly property string label: kind + " " + html.replace(/<[^>]*>/g, "").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&") + " " + detail
                width: list.width
                height: Theme.px(32)
                color: ListView.isCurrentItem ? Theme.selection : area.containsMouse ? Theme.hover : "transparent"
                Icon {
                    x: Theme.px(14)
                    anchors.verticalCenter: parent.verticalCenter
                    name: row.kind === "command" ? "right" : row.kind === "node" || row.kind === "step" || row.kind === "more" ? "target" : row.kind === "rule" ? "pass" : row.kind
                    width: Theme.px(14)
                    height: width
                    color: Theme.textMuted
                }
                Text {
                    x: Theme.px(38)
                    width: parent.width - x - detailLabel.width - Theme.px(30)
                    height: parent.height
                    verticalAlignment: Text.AlignVCenter
                    text: row.html
                    textFormat: Text.StyledText
                    elide: Text.ElideRight
                    color: Theme.text
                    font.family: Theme.sans
                    font.pixelSize: Theme.body
                }
                ULabel { id: detailLabel; anchors.right: parent.right; anchors.rightMargin: Theme.px(14); height: parent.height; text: row.detail; color: Theme.textFaint; font.pixelSize: Theme.small }
                UArea { id: area; stop: false; name: row.label; Accessible.role: Accessible.ListItem; anchors.fill: parent; onClicked: { list.currentIndex = row.index; popup.accept(); } }
            }
            ULabel { visible: list.count === 0; x: Theme.px(18); y: Theme.px(4); text: field.text === "/" ? qsTr("Operation, type or argument: every word must be there") : Session.busy ? qsTr("Searching…") : qsTr("Nothing fits"); color: Theme.textFaint }
        }
    }
}
