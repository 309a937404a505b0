// Two texts side by side: a ComparedLines model as two halves that scroll together.
import QtQuick
import QtQuick.Controls.Basic
import uopscope.core

ListView {
    id: list
    readonly property real shift: across.position * content
    readonly property real half: width / 2 - Theme.px(64)
    readonly property real content: ((model ? model.widest : 0) + 2) * metrics.advanceWidth
    activeFocusOnTab: true
    Accessible.role: Accessible.List
    Accessible.name: qsTr("Both texts, line by line")
    Accessible.focusable: true
    Rectangle { parent: list; visible: list.activeFocus; anchors.fill: parent; z: 3; color: "transparent"; border.width: 1; border.color: Theme.accent }
    clip: true
    reuseItems: true
    boundsBehavior: Flickable.StopAtBounds
    bottomMargin: across.visible ? Theme.px(12) : 0
    ScrollBar.vertical: UScrollBar {}
    TextMetrics { id: metrics; font.family: Theme.mono; font.pixelSize: Theme.px(12); text: "0" }
    UScrollBar {
        id: across
        parent: list
        orientation: Qt.Horizontal
        visible: size < 1
        size: Math.min(1, list.half / Math.max(1, list.content))
        anchors.left: parent.left
        anchors.right: parent.right
        anchors.bottom: parent.bottom
    }
    component Half: Item {
        id: side
        property int number: 0
        property string html: ""
        property color back: "transparent"
        Rectangle { anchors.fill: parent; color: side.back; opacity: 0.12 }
        ULabel { width: Theme.px(44); height: parent.height; horizontalAlignment: Text.AlignRight; text: side.number || ""; color: Theme.textFaint; font.pixelSize: Theme.px(11) }
        Flickable { // all of them go along with the bar below
            x: Theme.px(54)
            width: parent.width - x
            height: parent.height
            clip: true
            interactive: false
            contentWidth: code.implicitWidth
            contentX: list.shift
            Text { id: code; height: parent.height; verticalAlignment: Text.AlignVCenter; text: Theme.rich(side.html, Theme.dark); textFormat: Text.RichText; font.family: Theme.mono; font.pixelSize: Theme.px(12); color: Theme.text }
        }
    }
    delegate: Item {
        id: row
        required property int leftNumber
        required property int rightNumber
        required property string leftHtml
        required property string rightHtml
        required property string mark
        width: list.width
        height: Theme.px(20)
        Half { width: parent.width / 2 - Theme.px(10); height: parent.height; number: row.leftNumber; html: row.leftHtml; back: row.mark === "-" || row.mark === "~" ? Theme.removed : "transparent" }
        Rectangle { x: parent.width / 2 - 1; width: 1; height: parent.height; color: Theme.line }
        Half { x: parent.width / 2; width: parent.width / 2; height: parent.height; number: row.rightNumber; html: row.rightHtml; back: row.mark === "+" || row.mark === "~" ? Theme.added : "transparent" }
        ULabel { x: parent.width / 2 - Theme.px(8); height: parent.height; text: row.mark === " " ? "" : row.mark; color: Theme.textMuted; font.bold: true }
    }
}
