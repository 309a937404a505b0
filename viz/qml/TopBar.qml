// The present place, and the controls that lead to other places.
import QtQuick
import QtQuick.Layouts
import uopscope.core

Rectangle {
    id: bar
    implicitHeight: Theme.px(44)
    color: Theme.panel
    readonly property bool ready: Session.state === "ready"
    // Three names share the room; longer ones are cut with dots.
    component Crumb: RowLayout {
        id: crumb
        property string text: ""
        property bool last: false
        property bool strong: false
        spacing: Theme.px(6)
        visible: text.length > 0
        Layout.fillWidth: true
        Layout.maximumWidth: Math.ceil(Math.min(name.implicitWidth, Theme.px(240))) + (last ? 1 : Theme.px(16))
        ULabel {
            id: name
            text: crumb.text
            color: crumb.strong ? Theme.text : Theme.textMuted
            font.weight: crumb.strong ? Font.DemiBold : Font.Normal
            Layout.fillWidth: true
            Layout.minimumWidth: 0
        }
        ULabel { visible: !crumb.last; text: "›"; color: Theme.textFaint }
    }
    RowLayout {
        anchors.fill: parent
        anchors.leftMargin: Theme.px(12)
        anchors.rightMargin: Theme.px(10)
        spacing: Theme.px(4)
        Item {
            implicitWidth: Theme.px(22)
            implicitHeight: Theme.px(22)
            Repeater {
                model: [[3, 3, Theme.added], [13, 3, Theme.removed], [8, 13, Theme.accent]]
                Rectangle {
                    required property var modelData
                    x: Theme.px(modelData[0])
                    y: Theme.px(modelData[1])
                    width: Theme.px(6.5)
                    height: width
                    radius: Theme.px(2)
                    color: modelData[2]
                }
            }
        }
        ULabel { visible: bar.width > Theme.px(700) || !(bar.ready || Session.recorder.running); text: "uopscope"; font.weight: Font.DemiBold; Layout.rightMargin: Theme.px(8) }
        Rectangle { implicitWidth: 1; implicitHeight: Theme.px(20); color: Theme.line; Layout.rightMargin: Theme.px(4) }
        UButton { icon16: "open"; tip: qsTr("Open a script or a trace (Ctrl O)"); onClicked: Session.trigger("open") }
        UButton { objectName: "back"; icon16: "back"; tip: qsTr("Back (Alt ←)"); enabled: Session.canGoBack; onClicked: Session.trigger("back") }
        UButton { objectName: "forward"; icon16: "forward"; tip: qsTr("Forward (Alt →)"); enabled: Session.canGoForward; onClicked: Session.trigger("forward") }
        RowLayout {
            objectName: "crumbs"
            Layout.leftMargin: Theme.px(8)
            Layout.fillWidth: true
            visible: bar.ready
            spacing: Theme.px(6)
            Crumb { text: Session.summary.scriptName || Session.fileName }
            Crumb { text: Session.scopeName; last: Session.passName.length === 0 }
            Crumb { text: Session.passName; strong: true; last: true }
            Item { Layout.fillWidth: true }
        }
        Item { Layout.fillWidth: !bar.ready }
        UChip {
            visible: Session.recorder.running
            sign: "●"
            tone: Theme.error
            text: qsTr("recording %1 s").arg(Session.recorder.seconds.toFixed(0))
            Layout.rightMargin: Theme.px(6)
        }
        UButton {
            visible: Session.recorder.running
            icon16: "stop"
            text: qsTr("Cancel")
            quiet: false
            onClicked: Session.recorder.cancel()
        }
        Rectangle {
            objectName: "jumpField"
            visible: bar.ready
            readonly property bool wide: bar.width > Theme.px(1000)
            implicitWidth: Theme.px(wide ? 210 : 86)
            implicitHeight: Theme.px(28)
            radius: 6
            color: jumpArea.containsMouse ? Theme.hover : Theme.window
            border.color: Theme.line
            Layout.rightMargin: Theme.px(6)
            Icon { name: "search"; x: Theme.px(8); width: Theme.px(14); height: Theme.px(14); anchors.verticalCenter: parent.verticalCenter; color: Theme.textFaint }
            ULabel { visible: parent.wide; text: qsTr("Jump to…"); color: Theme.textFaint; x: Theme.px(28); anchors.verticalCenter: parent.verticalCenter }
            KeyCap { text: "Ctrl P"; anchors.right: parent.right; anchors.rightMargin: Theme.px(5); anchors.verticalCenter: parent.verticalCenter }
            UArea { id: jumpArea; anchors.fill: parent; name: qsTr("Jump to…"); onClicked: Session.trigger("jump") }
        }
        UButton { visible: bar.ready; icon16: "link"; tip: qsTr("Copy a link to what is shown (Ctrl L)"); onClicked: Session.trigger("copy-link") }
        UButton { icon16: "text"; tip: qsTr("Text size: Ctrl + and Ctrl −"); onClicked: Theme.textScale = Theme.textScale >= 1.6 ? 1 : Theme.textScale + 0.2 }
        UButton { icon16: "theme"; tip: qsTr("Dark or light (T), high contrast (Shift T)"); onClicked: Session.trigger("theme") }
        UButton { icon16: "keys"; tip: qsTr("Keys (?)"); onClicked: Session.trigger("keys") }
    }
    Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
}
