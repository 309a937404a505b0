// The candidates of BEAM as a cloud: the price of the cost model against the measured time. A click on a dot compiles the
// kernel with these Opts, as a variant.
import QtQuick
import QtQuick.Layouts
import uopscope.core

ColumnLayout {
    id: pane
    objectName: "candidatesPane"
    spacing: 0
    readonly property var dots: Tools.candidates.dots
    readonly property var ran: dots.filter(d => d.micros > 0)
    readonly property var priced: ran.filter(d => d.price > 0)
    // Both axes are logarithmic. A candidate without a price stands in a column of its own, left of the axis.
    function ends(list, of) { return list.length > 0 ? [Math.min(...list.map(of)), Math.max(...list.map(of))] : [1, 10]; }
    readonly property var prices: ends(priced, d => d.price)
    readonly property var times: ends(ran, d => d.micros)
    function part(v, range) { return range[1] > range[0] ? Math.log(v / range[0]) / Math.log(range[1] / range[0]) : 0.5; }
    function shown(v) { return v >= 100 ? Math.round(v).toString() : v.toPrecision(2); }
    property string told: ""
    ULabel { objectName: "candidatesSummary"; text: pane.told.length > 0 ? pane.told : Tools.candidates.summary; color: Theme.textMuted; wrapMode: Text.Wrap; maximumLineCount: 2; Layout.fillWidth: true; Layout.margins: Theme.px(10); Layout.leftMargin: Theme.px(14); Layout.bottomMargin: 0 }
    Item {
        id: area
        Layout.fillWidth: true
        Layout.fillHeight: true
        Layout.margins: Theme.px(14)
        readonly property real inset: Theme.px(64)
        readonly property real without: Theme.px(70)
        readonly property real foot: Theme.px(34)
        function xOf(d) { return d.price > 0 ? inset + without + pane.part(d.price, pane.prices) * (width - inset - without - Theme.px(20)) : inset + without * 0.4; }
        function yOf(d) { return Theme.px(10) + (1 - pane.part(d.micros, pane.times)) * (height - foot - Theme.px(20)); }
        Rectangle { x: area.inset; y: 0; width: 1; height: area.height - area.foot; color: Theme.lineStrong }
        Rectangle { x: area.inset; y: area.height - area.foot; width: area.width - area.inset; height: 1; color: Theme.lineStrong }
        Rectangle { visible: pane.priced.length > 0; x: area.inset + area.without * 0.8; y: 0; width: 1; height: area.height - area.foot; color: Theme.line }
        ULabel { x: 0; y: Theme.px(2); width: area.inset - Theme.px(6); horizontalAlignment: Text.AlignRight; text: qsTr("%1 µs").arg(pane.shown(pane.times[1])); color: Theme.textMuted; font.pixelSize: Theme.small }
        ULabel { x: 0; y: area.height - area.foot - height - Theme.px(4); width: area.inset - Theme.px(6); horizontalAlignment: Text.AlignRight; text: qsTr("%1 µs").arg(pane.shown(pane.times[0])); color: Theme.textMuted; font.pixelSize: Theme.small }
        ULabel { x: area.inset; y: area.height - area.foot + Theme.px(3); width: area.without; text: qsTr("no price"); color: Theme.textMuted; font.pixelSize: Theme.small }
        ULabel { visible: pane.priced.length > 0; x: area.inset + area.without; y: area.height - area.foot + Theme.px(3); text: pane.shown(pane.prices[0]); color: Theme.textMuted; font.pixelSize: Theme.small }
        ULabel { visible: pane.priced.length > 0; anchors.right: parent.right; y: area.height - area.foot + Theme.px(3); text: pane.shown(pane.prices[1]); color: Theme.textMuted; font.pixelSize: Theme.small }
        ULabel { anchors.horizontalCenter: parent.horizontalCenter; y: area.height - area.foot + Theme.px(15); text: qsTr("price: cycles a lane and step; upwards: measured time"); color: Theme.textFaint; font.pixelSize: Theme.small }
        Repeater {
            model: pane.ran
            Rectangle {
                id: dot
                required property var modelData
                required property int index
                objectName: "candidate" + index
                width: Theme.px(modelData.chosen ? 14 : 10)
                height: width
                radius: width / 2
                x: area.xOf(modelData) - width / 2
                y: area.yOf(modelData) - height / 2
                z: modelData.chosen ? 2 : over.containsMouse ? 3 : 1
                color: modelData.chosen ? Theme.accent : over.containsMouse ? Theme.hover : Theme.raised
                border.width: 2
                border.color: index === 0 ? Theme.added : Theme.textMuted
                readonly property string words: modelData.opts + ": " + modelData.time + (modelData.price > 0 ? ", " + qsTr("price %1").arg(modelData.price.toFixed(2)) : "") + (modelData.chosen ? ", " + qsTr("chosen") : index === 0 ? ", " + qsTr("the fastest") : "")
                UArea { id: over; anchors.fill: parent; anchors.margins: -2; stop: false; name: dot.words; cursorShape: Qt.PointingHandCursor; onContainsMouseChanged: pane.told = containsMouse ? dot.words : ""; onClicked: Tools.whatIf.opts(dot.modelData.opts) }
            }
        }
    }
}
