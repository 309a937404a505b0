// Why the step was made: the reason in words, its price, and a bar for each of the alternatives.
//
//   DecisionSection { made: Session.stepInfo.decisions || [] }
import QtQuick
import QtQuick.Layouts
import uopscope.core

DSection {
    id: section
    property var made: []
    visible: made.length > 0
    title: qsTr("Decided")
    Repeater {
        model: section.made
        ColumnLayout {
            id: decision
            required property var modelData
            spacing: Theme.px(6)
            Layout.fillWidth: true
            ULabel { objectName: "decisionReason"; text: decision.modelData.reason; color: Theme.text; wrapMode: Text.Wrap; elide: Text.ElideNone; Layout.fillWidth: true }
            ULabel { objectName: "decisionPrice"; visible: decision.modelData.price.length > 0; text: decision.modelData.bars.length > 0 ? qsTr("Price, %1").arg(decision.modelData.unit) : qsTr("Price: %1").arg(decision.modelData.price); color: Theme.textFaint; font.pixelSize: Theme.small; wrapMode: Text.Wrap; elide: Text.ElideNone; Layout.fillWidth: true }
            Repeater {
                model: decision.modelData.bars
                ColumnLayout {
                    id: bar
                    objectName: "decisionBar"
                    required property var modelData
                    readonly property bool flips: modelData.number > 0 && Session.scopeKind === "kernel"
                    spacing: 2
                    Layout.fillWidth: true
                    Accessible.role: Accessible.StaticText
                    Accessible.name: modelData.what + " " + modelData.price + (modelData.more.length > 0 ? ", " + modelData.more : "")
                    GridLayout { // names keep their words together: in a narrow pane the figures go below them
                        columns: section.width < Theme.px(270) ? 1 : 2
                        columnSpacing: Theme.px(8)
                        rowSpacing: 0
                        Layout.fillWidth: true
                        ULabel { text: (bar.modelData.chosen ? "◆ " : "") + bar.modelData.what; color: bar.modelData.chosen ? Theme.text : Theme.textMuted; font.weight: bar.modelData.chosen ? Font.DemiBold : Font.Normal; font.pixelSize: Theme.small; wrapMode: Text.Wrap; elide: Text.ElideNone; Layout.fillWidth: true }
                        RowLayout {
                            spacing: Theme.px(8)
                            Layout.alignment: Qt.AlignRight
                            Layout.fillWidth: parent.columns === 1
                            ULabel { text: bar.modelData.more; color: Theme.textFaint; font.pixelSize: Theme.small; horizontalAlignment: Text.AlignRight; Layout.fillWidth: true }
                            UChip { objectName: "decisionFlip" + bar.modelData.number; visible: bar.flips; text: qsTr("try"); link: true; onClicked: Tools.whatIf.alternative(bar.modelData.number) }
                            ULabel { text: bar.modelData.price; mono: true; color: bar.modelData.chosen ? Theme.text : Theme.textMuted; font.pixelSize: Theme.small }
                        }
                    }
                    Rectangle {
                        Layout.fillWidth: true
                        implicitHeight: Theme.px(5)
                        radius: height / 2
                        color: Theme.raised
                        Rectangle { objectName: "decisionPart"; width: Math.max(2, parent.width * bar.modelData.part); height: parent.height; radius: height / 2; color: bar.modelData.chosen ? Theme.accent : Theme.lineStrong }
                    }
                }
            }
        }
    }
}
