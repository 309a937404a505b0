// A few lines of code or an expression in a frame, selectable. `sign` and `tone` mark the text as a part of a
// change.
import QtQuick
import QtQuick.Layouts
import uopscope.core

Rectangle {
    id: box
    property string html: ""
    property string plain: ""
    property string sign: ""
    property color tone: Theme.line
    property bool dashed: false
    property int most: 220
    Layout.fillWidth: true
    implicitHeight: Math.min(edit.implicitHeight, Theme.px(most)) + Theme.px(14)
    radius: 6
    color: Theme.window
    border.color: Theme.line
    clip: true
    Rectangle { width: Theme.px(3); height: parent.height; color: box.tone; visible: box.sign.length > 0; opacity: box.dashed ? 0.75 : 1 }
    ULabel { visible: box.sign.length > 0; text: box.sign; x: Theme.px(9); y: Theme.px(6); color: box.tone; font.bold: true; font.pixelSize: Theme.px(12) }
    Flickable {
        anchors.fill: parent
        anchors.margins: Theme.px(7)
        anchors.leftMargin: box.sign.length > 0 ? Theme.px(25) : Theme.px(9)
        contentHeight: edit.implicitHeight
        boundsBehavior: Flickable.StopAtBounds
        clip: true
        TextEdit {
            id: edit
            Accessible.role: Accessible.StaticText
            Accessible.readOnly: true
            Accessible.name: (box.sign === "−" ? qsTr("before: ") : box.sign === "+" ? qsTr("after: ") : "") + getText(0, length)
            width: parent.width
            readOnly: true
            selectByMouse: true
            text: box.html.length > 0 ? Theme.rich(box.html, Theme.dark) : box.plain
            textFormat: box.html.length > 0 ? TextEdit.RichText : TextEdit.PlainText
            wrapMode: TextEdit.WrapAtWordBoundaryOrAnywhere
            color: Theme.text
            selectionColor: Theme.accent
            selectedTextColor: Theme.accentText
            font.family: Theme.mono
            font.pixelSize: Theme.px(11.5)
        }
    }
}
