// Checks the step: both sides evaluated, or the first rewrite of the trace that changes a value.
import QtQuick
import QtQuick.Layouts
import uopscope.core

ColumnLayout {
    spacing: 0
    Flow {
        Layout.fillWidth: true
        Layout.leftMargin: Theme.px(14)
        Layout.rightMargin: Theme.px(14)
        Layout.bottomMargin: Theme.px(10)
        spacing: Theme.px(8)
        UButton { objectName: "checkStep"; quiet: false; text: qsTr("Is it right?"); tip: qsTr("Evaluates before and after on corner and random values (V)"); onClicked: Tools.checker.checkStep() }
        UButton { objectName: "checkAll"; quiet: true; text: Tools.checker.busy ? qsTr("Cancel, %1 %").arg(Math.round(Tools.checker.progress * 100)) : qsTr("Check the trace"); tip: qsTr("The first rewrite that changes a value (Shift V)"); onClicked: Tools.checker.busy ? Tools.checker.cancel() : Tools.checker.checkAll() }
    }
    ULabel {
        objectName: "checkAnswer"
        visible: Tools.checker.answer.length > 0
        text: (Tools.checker.verdict === "same" ? "✓ " : Tools.checker.verdict === "differs" ? "✗ " : "? ") + Tools.checker.answer
        color: Tools.checker.verdict === "differs" ? Theme.error : Tools.checker.verdict === "same" ? Theme.accent : Theme.textMuted
        wrapMode: Text.Wrap
        elide: Text.ElideNone
        Layout.fillWidth: true
        Layout.leftMargin: Theme.px(14)
        Layout.rightMargin: Theme.px(14)
        Layout.bottomMargin: Theme.px(10)
    }
    ULabel { visible: Tools.checker.survey.length > 0; text: Tools.checker.survey; wrapMode: Text.Wrap; elide: Text.ElideNone; color: Theme.textMuted; font.pixelSize: Theme.small; Layout.fillWidth: true; Layout.leftMargin: Theme.px(14); Layout.rightMargin: Theme.px(14); Layout.bottomMargin: Theme.px(8) }
    Repeater {
        model: Tools.checker.faults
        UChip { required property var modelData; Layout.leftMargin: Theme.px(14); Layout.maximumWidth: parent.width - Theme.px(28); Layout.fillWidth: true; Layout.bottomMargin: Theme.px(4); sign: "✗"; tone: Theme.error; link: true; text: qsTr("%1: %2 → %3").arg(modelData.rule).arg(modelData.before).arg(modelData.after); onClicked: Session.goToTraceStep(modelData.step) }
    }
}
