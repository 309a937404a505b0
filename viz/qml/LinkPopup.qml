// Takes a typed or pasted link.
import QtQuick
import QtQuick.Controls
import uopscope.core

Popup {
    id: popup
    objectName: "linkPopup"
    parent: Overlay.overlay
    x: (parent.width - width) / 2
    y: Theme.px(90)
    width: Math.min(parent.width - Theme.px(60), Theme.px(620))
    padding: Theme.px(12)
    modal: true
    focus: true
    function ask() { field.text = Session.link; open(); field.forceActiveFocus(); field.selectAll(); }
    Overlay.modal: Rectangle { color: Theme.dark ? "#80000000" : "#40000000" }
    background: Rectangle { radius: 10; color: Theme.raised; border.color: Theme.lineStrong }
    contentItem: Column {
        spacing: Theme.px(8)
        UField { id: field; objectName: "linkField"; icon16: "link"; width: parent.width; height: Theme.px(34); hint: "kernel=3&pass=devectorize&step=12"; Keys.onReturnPressed: { if (Session.follow(text)) popup.close(); } }
        ULabel { text: qsTr("kernel, pass, step, node, tab — what is left out stays as it is"); color: Theme.textFaint; font.pixelSize: Theme.small }
    }
}
