// A condition on steps: the number of steps that meet it, and running to them.
import QtQuick
import QtQuick.Layouts
import uopscope.core

Rectangle {
    id: bar
    objectName: "conditionBar"
    function ask() { visible = true; field.forceActiveFocus(); field.selectAll(); }
    implicitHeight: visible ? Theme.px(40) : 0
    color: Theme.panel
    Rectangle { width: parent.width; height: 1; color: Theme.line }
    RowLayout {
        anchors.fill: parent
        anchors.leftMargin: Theme.px(12)
        anchors.rightMargin: Theme.px(8)
        spacing: Theme.px(6)
        ULabel { text: qsTr("Stop where"); color: Theme.textMuted }
        UField {
            id: field
            objectName: "conditionField"
            Layout.fillWidth: true
            icon16: "target"
            hint: qsTr("rule:add-*  op:ADD  into:CONST  node:456  pass:devectorize  changed:no  took>10000  or  where took_ns > 1000")
            text: Tools.conditions.text
            onTextEdited: Tools.conditions.text = text
            Keys.onReturnPressed: event => Tools.conditions.run(event.modifiers & Qt.ShiftModifier ? -1 : 1)
            Keys.onEscapePressed: bar.visible = false
        }
        ULabel {
            text: Tools.conditions.problem.length > 0 ? Tools.conditions.problem : Tools.conditions.count < 0 ? "" : (Tools.conditions.count === 1 ? qsTr("1 step, %1 in this pass") : qsTr("%1 steps, %2 in this pass").arg(Tools.conditions.count)).arg(Tools.conditions.hits.length)
            color: Tools.conditions.problem.length > 0 ? Theme.error : Theme.textMuted
            font.pixelSize: Theme.small
            Layout.maximumWidth: Theme.px(420)
        }
        UButton { objectName: "runBack"; icon16: "previous"; tip: qsTr("Run back (Shift F5)"); onClicked: Tools.conditions.run(-1) }
        UButton { objectName: "runOn"; icon16: "next"; tip: qsTr("Run on (F5)"); onClicked: Tools.conditions.run(1) }
        UButton { objectName: "conditionClose"; icon16: "close"; tip: qsTr("Close (Esc)"); onClicked: bar.visible = false }
    }
}
