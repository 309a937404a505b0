// The bottom: previous and next step and pass, and the slider over the strip of steps.
import QtQuick
import QtQuick.Layouts
import uopscope.core

Rectangle {
    id: bar
    implicitHeight: Theme.px(64)
    color: Theme.panel
    Rectangle { width: parent.width; height: 1; color: Theme.line }
    RowLayout {
        anchors.fill: parent
        anchors.leftMargin: Theme.px(12)
        anchors.rightMargin: Theme.px(12)
        spacing: Theme.px(4)
        UButton { objectName: "previousPass"; icon16: "previous-pass"; tip: qsTr("Previous pass (↑)"); onClicked: Session.trigger("previous-pass") }
        UButton { objectName: "previousStep"; icon16: "previous"; quiet: false; implicitWidth: Theme.px(38); implicitHeight: Theme.px(32); tip: qsTr("Previous rewrite (←)"); onClicked: Session.trigger("previous-step") }
        UButton { objectName: "nextStep"; icon16: "next"; quiet: false; implicitWidth: Theme.px(38); implicitHeight: Theme.px(32); tip: qsTr("Next rewrite (→)"); onClicked: Session.trigger("next-step") }
        UButton { objectName: "play"; icon16: Tools.playing ? "stop" : "play"; on: Tools.playing; tip: Tools.playing ? qsTr("Pause (Ctrl Space)") : qsTr("Play, %1 steps a second (Ctrl Space, < and >)").arg(Tools.speed); onClicked: Session.trigger("play") }
        UButton { objectName: "nextPass"; icon16: "next-pass"; tip: qsTr("Next pass (↓)"); onClicked: Session.trigger("next-pass") }
        Item {
            id: track
            objectName: "slider"
            activeFocusOnTab: true
            Accessible.role: Accessible.Slider
            Accessible.name: qsTr("Step of the pass")
            Accessible.focusable: true
            readonly property real value: Session.step
            readonly property real minimumValue: 0
            readonly property real maximumValue: Session.stepCount
            readonly property real stepSize: 1
            Accessible.onIncreaseAction: Session.trigger("next-step")
            Accessible.onDecreaseAction: Session.trigger("previous-step")
            Layout.fillWidth: true
            Layout.fillHeight: true
            Layout.leftMargin: Theme.px(14)
            Layout.rightMargin: Theme.px(14)
            readonly property real at: Session.stepCount > 0 ? Session.step / Session.stepCount * width : 0
            function seek(x) { Session.step = Math.round(Math.max(0, Math.min(1, x / width)) * Session.stepCount); }
            DensityStrip {
                x: 0
                y: Theme.px(10)
                width: parent.width
                height: Theme.px(28)
                theme: Theme
                times: Session.steps.times
                rules: Session.steps.rules
                step: Session.step
                hits: Tools.conditions.hits
            }
            Rectangle { y: Theme.px(44); width: parent.width; height: Theme.px(4); radius: 2; color: Theme.line }
            Rectangle { y: Theme.px(44); width: track.at; height: Theme.px(4); radius: 2; color: Theme.accent }
            Rectangle { // the part of the pass that the picture covers
                visible: Session.interval > 1
                y: Theme.px(42)
                height: Theme.px(8)
                radius: 3
                x: Math.max(0, (Session.step - Session.interval) / Math.max(1, Session.stepCount)) * track.width
                width: track.at - x
                color: Theme.accent
                opacity: 0.35
            }
            Rectangle { x: track.at - 1; y: Theme.px(8); width: 2; height: Theme.px(38); color: Theme.accent }
            Rectangle {
                x: track.at - width / 2
                y: Theme.px(39)
                width: Theme.px(14)
                height: width
                radius: width / 2
                color: sliderArea.pressed ? Theme.accent : Theme.raised
                border.width: 2
                border.color: Theme.accent
            }
            ULabel {
                visible: Session.stepCount === 0
                anchors.centerIn: parent
                anchors.verticalCenterOffset: -Theme.px(8)
                text: Session.pass > 0 ? qsTr("no step in this pass") : ""
                color: Theme.textFaint
                font.pixelSize: Theme.small
            }
            MouseArea {
                id: sliderArea
                anchors.fill: parent
                Rectangle { visible: track.activeFocus; anchors.fill: parent; anchors.topMargin: Theme.px(4); anchors.bottomMargin: Theme.px(4); radius: 5; color: "transparent"; border.width: 2; border.color: Theme.accent }
                hoverEnabled: true
                onPressed: mouse => track.seek(mouse.x)
                onPositionChanged: mouse => { if (pressed) track.seek(mouse.x); }
                onWheel: wheel => Session.trigger(wheel.angleDelta.y > 0 ? "previous-step" : "next-step")
            }
        }
        ColumnLayout {
            spacing: 0
            Layout.preferredWidth: Theme.px(150)
            Row {
                Layout.alignment: Qt.AlignRight
                spacing: Theme.px(5)
                TextInput {
                    id: number
                    objectName: "stepNumber"
                    activeFocusOnTab: true
                    Accessible.role: Accessible.EditableText
                    Accessible.name: qsTr("Number of the step")
                    Rectangle { visible: parent.activeFocus; anchors.fill: parent; anchors.margins: -3; radius: 4; color: "transparent"; border.width: 2; border.color: Theme.accent }
                    text: Session.step
                    color: Theme.text
                    font.family: Theme.sans
                    font.pixelSize: Theme.px(16)
                    font.weight: Font.DemiBold
                    selectByMouse: true
                    validator: IntValidator { bottom: 0 }
                    onAccepted: { Session.step = parseInt(text); focus = false; }
                    onActiveFocusChanged: if (!activeFocus) text = Qt.binding(() => Session.step)
                }
                ULabel { text: "/ " + Session.stepCount.toLocaleString(Qt.locale("en_US"), "f", 0); color: Theme.textMuted; font.pixelSize: Theme.px(13); anchors.baseline: number.baseline }
            }
            ULabel { Layout.preferredWidth: Theme.px(150); horizontalAlignment: Text.AlignRight; text: Session.stepInfo.rule || (Session.stepCount > 0 ? qsTr("as the pass began") : ""); color: Theme.textFaint; font.pixelSize: Theme.small }
        }
    }
}
