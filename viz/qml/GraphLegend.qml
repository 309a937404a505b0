// What signs and colours of a graph mean, with the number of nodes of each colour. It scrolls where the canvas is low.
//
//   GraphLegend { canvas: canvas; anchors.right: parent.right }
import QtQuick
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    required property GraphCanvas canvas ///< beside which it stands; it is never larger
    width: Math.min(Theme.px(268), canvas.width - Theme.px(16))
    height: Math.min(legend.height + Theme.px(24), canvas.height - Theme.px(16))
    radius: 8
    color: Theme.raised
    border.color: Theme.line
    Flickable {
        anchors.fill: parent
        anchors.margins: Theme.px(12)
        contentHeight: legend.height
        interactive: contentHeight > height
        boundsBehavior: Flickable.StopAtBounds
        clip: true
        ScrollBar.vertical: UScrollBar {}
        Column {
            id: legend
            x: Theme.px(2)
            width: parent.width - Theme.px(4)
            spacing: Theme.px(6)
            Repeater {
                model: [["+", qsTr("added by the step"), Theme.added], ["−", qsTr("removed: dashed, struck through"), Theme.removed], ["~", qsTr("rebuilt: a source changed"), Theme.modified]]
                Row {
                    id: sign
                    required property var modelData
                    spacing: Theme.px(8)
                    Rectangle {
                        width: Theme.px(18); height: width; radius: width / 2; color: sign.modelData[2]
                        Text { anchors.centerIn: parent; text: sign.modelData[0]; color: Theme.dark ? "#10131a" : "white"; font.bold: true; font.pixelSize: Theme.px(12) }
                    }
                    ULabel { text: parent.modelData[1]; width: legend.width - Theme.px(26); wrapMode: Text.Wrap; font.pixelSize: Theme.small; color: Theme.textMuted; anchors.verticalCenter: parent.verticalCenter }
                }
            }
            Rectangle { width: parent.width; height: 1; color: Theme.line }
            Repeater {
                model: Session.graph.legend
                Row {
                    required property var modelData
                    spacing: Theme.px(8)
                    Rectangle { width: Theme.px(18); height: Theme.px(12); radius: 3; color: Theme.dark, Theme.tintColour(parent.modelData.colour, Session.graph.legendOrdered); anchors.verticalCenter: parent.verticalCenter }
                    ULabel { text: parent.modelData.text; width: Theme.px(160); font.pixelSize: Theme.small; color: Theme.textMuted }
                    ULabel { text: parent.modelData.count; font.pixelSize: Theme.small; color: Theme.textFaint }
                }
            }
            Repeater {
                model: Session.graph.colourBy === "op" ? 12 : 0
                Row {
                    required property int index
                    spacing: Theme.px(8)
                    Rectangle { width: Theme.px(18); height: Theme.px(12); radius: 3; color: Theme.dark, Theme.familyColour(parent.index); anchors.verticalCenter: parent.verticalCenter }
                    ULabel { text: Theme.familyName(parent.index); font.pixelSize: Theme.small; color: Theme.textMuted }
                }
            }
        }
    }
}
