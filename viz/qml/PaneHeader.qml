// The small heading of a pane, with room for buttons at its right.
import QtQuick
import QtQuick.Layouts
import uopscope.core

Item {
    id: header
    property string title: ""
    property string detail: ""
    default property alias extra: extras.data
    implicitHeight: Theme.px(34)
    RowLayout {
        anchors.fill: parent
        anchors.leftMargin: Theme.px(12)
        anchors.rightMargin: Theme.px(6)
        spacing: Theme.px(8)
        Text {
            textFormat: Text.PlainText
            text: header.title.toUpperCase()
            color: Theme.textMuted
            font.family: Theme.sans
            font.pixelSize: Theme.px(10.5)
            font.weight: Font.DemiBold
            font.letterSpacing: 0.9
            elide: Text.ElideRight
            visible: text.length > 0
            Layout.fillWidth: true
            Layout.minimumWidth: 0
            Layout.maximumWidth: header.detail.length === 0 ? 1e6 : Math.ceil(implicitWidth)
        }
        ULabel {
            text: header.detail
            color: Theme.textFaint
            font.pixelSize: Theme.small
            Layout.fillWidth: true
            Layout.minimumWidth: 0
        }
        Row { id: extras; spacing: 2 }
    }
}
