// The small heading of a pane, with room for buttons at its right. Where it is narrow the detail goes before the title, and
// where that is too long its brief form is shown: a number cut in half says something else.
import QtQuick
import QtQuick.Layouts
import uopscope.core

Item {
    id: header
    property string title: ""
    property string detail: ""
    property string brief: "" ///< of the detail
    readonly property real room: width - Theme.px(26) - extras.width
    readonly property bool tight: brief.length > 0 && heading.implicitWidth + Theme.px(8) + whole.advanceWidth > room
    TextMetrics { id: whole; font.family: Theme.sans; font.pixelSize: Theme.small; text: header.detail }
    default property alias extra: extras.data
    implicitHeight: Theme.px(34)
    RowLayout {
        anchors.fill: parent
        anchors.leftMargin: Theme.px(12)
        anchors.rightMargin: Theme.px(6)
        spacing: Theme.px(8)
        Text {
            id: heading
            textFormat: Text.PlainText
            text: header.title.toUpperCase()
            color: Theme.textMuted
            font.family: Theme.sans
            font.pixelSize: Theme.px(10.5)
            font.weight: Font.DemiBold
            font.letterSpacing: 0.9
            elide: Text.ElideRight
            visible: text.length > 0 && !header.tight
            Layout.fillWidth: true
            Layout.minimumWidth: 0
            Layout.maximumWidth: header.detail.length === 0 ? 1e6 : Math.ceil(implicitWidth)
        }
        ULabel {
            objectName: "paneDetail"
            text: header.tight && whole.advanceWidth > header.room ? header.brief : header.detail
            color: Theme.textFaint
            font.pixelSize: Theme.small
            Layout.fillWidth: true
            Layout.minimumWidth: 0
        }
        Row { id: extras; spacing: 2 }
    }
}
