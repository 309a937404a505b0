// A node in a list: its colour, operation, detail and type; a click goes there. In a narrow row each of them ends with dots.
import QtQuick
import QtQuick.Layouts
import uopscope.core

Rectangle {
    id: row
    property var info: ({})
    property string lead: ""
    property string trail: ""
    signal chosen()
    Layout.fillWidth: true
    implicitHeight: Theme.px(24)
    radius: 5
    color: area.containsMouse ? Theme.hover : "transparent"
    RowLayout {
        anchors.fill: parent
        anchors.leftMargin: Theme.px(4)
        anchors.rightMargin: Theme.px(4)
        spacing: Theme.px(7)
        ULabel { visible: row.lead.length > 0; text: row.lead; color: Theme.textFaint; font.pixelSize: Theme.small; Layout.preferredWidth: Theme.px(14); horizontalAlignment: Text.AlignRight }
        Rectangle { implicitWidth: Theme.px(4); implicitHeight: Theme.px(13); radius: 2; color: Theme.dark, Theme.familyColour(row.info.family === undefined ? -1 : row.info.family) }
        ULabel { text: row.info.op || ""; font.weight: Font.DemiBold; font.pixelSize: Theme.px(12); Layout.fillWidth: true; Layout.maximumWidth: Math.ceil(implicitWidth) }
        ULabel { text: row.info.detail || ""; mono: true; font.pixelSize: Theme.px(11); color: Theme.textMuted; Layout.fillWidth: true }
        ULabel { text: row.trail.length > 0 ? row.trail : row.info.dtype || ""; mono: row.trail.length === 0; font.pixelSize: Theme.px(10.5); color: Theme.textFaint; Layout.fillWidth: true; Layout.maximumWidth: Math.min(Math.ceil(implicitWidth), row.width * 0.4) }
    }
    UArea { id: area; anchors.fill: parent; cursorShape: Qt.PointingHandCursor; name: [row.lead, row.info.op || "", row.info.detail || "", row.trail || row.info.dtype || ""].join(" ").trim(); onClicked: row.chosen() }
}
