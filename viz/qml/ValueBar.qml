// The place whose numbers are shown: an iteration for each loop, contents for each parameter, an element of tensors.
import QtQuick
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: bar
    /// Many fields in a narrow pane scroll beyond this height.
    property real most: Infinity
    implicitHeight: Math.min(fields.implicitHeight + Theme.px(12), Math.max(Theme.px(38), most))
    color: Theme.panel
    clip: true
    Flickable {
        anchors.fill: parent
        contentHeight: fields.implicitHeight + Theme.px(12)
        boundsBehavior: Flickable.StopAtBounds
        interactive: contentHeight > height
        ScrollBar.vertical: UScrollBar {}
        Flow {
            id: fields
            x: Theme.px(10)
            y: Theme.px(6)
            width: bar.width - Theme.px(24)
            spacing: Theme.px(10)
            Repeater {
                model: Tools.values.loops.length // a field stays, and keeps the keyboard, while its number changes
                Row {
                    id: loop
                    required property int index
                    readonly property var modelData: Tools.values.loops[index] || ({ name: "", shown: "", kind: "", first: 0, last: 0, at: 0 })
                    spacing: Theme.px(5)
                    function take(at) { Tools.values.choose(modelData.name, Math.max(modelData.first, Math.min(modelData.last, at))); }
                    ULabel { height: Theme.px(26); verticalAlignment: Text.AlignVCenter; text: loop.modelData.shown; mono: true; color: Theme.textMuted; HoverHandler { id: over } UTip { visible: over.hovered; text: loop.modelData.kind } }
                    UField {
                        objectName: "valueLoop-" + loop.modelData.name
                        icon16: ""
                        clearable: false
                        rightPadding: Theme.px(6)
                        width: Theme.px(54)
                        height: Theme.px(26)
                        hint: qsTr("Iteration of %1").arg(loop.modelData.shown)
                        readonly property string told: String(loop.modelData.at)
                        onToldChanged: text = told
                        text: told
                        validator: IntValidator { bottom: loop.modelData.first; top: Math.min(loop.modelData.last, 2147483647) }
                        onEditingFinished: if (Number(text) !== loop.modelData.at) loop.take(Number(text))
                        Keys.onUpPressed: loop.take(loop.modelData.at + 1)
                        Keys.onDownPressed: loop.take(loop.modelData.at - 1)
                    }
                    ULabel { height: Theme.px(26); verticalAlignment: Text.AlignVCenter; text: qsTr("to %1").arg(loop.modelData.last); font.pixelSize: Theme.small; color: Theme.textFaint }
                }
            }
            Row {
                visible: Tools.values.tensors
                spacing: Theme.px(5)
                ULabel { height: Theme.px(26); verticalAlignment: Text.AlignVCenter; text: qsTr("element"); color: Theme.textMuted }
                UField { objectName: "valueElement"; icon16: ""; width: Theme.px(90); height: Theme.px(26); hint: qsTr("0,0"); text: Tools.values.element; onEditingFinished: if (text !== Tools.values.element) Tools.values.setElement(text) }
            }
            Repeater {
                model: Tools.values.inputs.length
                Row {
                    id: input
                    required property int index
                    readonly property var modelData: Tools.values.inputs[index] || ({ name: "", dtype: "", size: 0, contents: "" })
                    spacing: Theme.px(5)
                    ULabel { height: Theme.px(26); verticalAlignment: Text.AlignVCenter; text: input.modelData.name; mono: true; color: Theme.textMuted; HoverHandler { id: overInput } UTip { visible: overInput.hovered; text: input.modelData.dtype + " [" + input.modelData.size + "]" } }
                    UField {
                        objectName: "valueInput-" + input.modelData.name
                        icon16: ""
                        width: Theme.px(110)
                        height: Theme.px(26)
                        hint: qsTr("made up")
                        readonly property string told: input.modelData.contents
                        onToldChanged: text = told
                        text: told
                        onEditingFinished: if (text.trim() !== input.modelData.contents) Tools.values.setInput(input.modelData.name, text)
                        HoverHandler { id: overField }
                        UTip { visible: overField.hovered; text: qsTr("0.5: every element; 1,2,3: repeated; count: 0, 1, 2 …") }
                    }
                }
            }
            UButton { objectName: "valueReset"; quiet: true; icon16: "first"; tip: qsTr("First iterations, inputs made up"); onClicked: Tools.values.reset() }
        }
    }
    Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
}
