// The roofline: each kernel as a dot below the roof of this machine, or as one of predicted against measured time, and a row with
// its time beside the predicted and the least time. Heads of columns sort, a field filters by name.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

ColumnLayout {
    id: pane
    objectName: "rooflinePane"
    spacing: 0
    property int chosen: -1
    property string view: "roof" // or "prediction"
    readonly property var roof: Tools.roofline.roof
    readonly property bool narrow: width < Theme.px(1080) // the name of a kernel needs room as well
    readonly property bool tight: width < Theme.px(670)
    onVisibleChanged: if (visible) Tools.roofline.load()
    Connections { target: Tools.roofline; function onChanged() { plot.requestPaint(); if (pane.visible && Tools.roofline.count === 0 && !Tools.roofline.busy) Tools.roofline.load(); } }
    Connections { target: Theme; function onChanged() { plot.requestPaint(); } }
    function show(index) { chosen = index; list.positionViewAtIndex(index, ListView.Contain); }
    function sortBy(column) { chosen = -1; Tools.roofline.sortBy(column); }

    GridLayout {
        Layout.fillWidth: true
        Layout.margins: Theme.px(12)
        Layout.bottomMargin: 0
        columns: pane.tight ? 2 : 4
        columnSpacing: Theme.px(10)
        rowSpacing: Theme.px(6)
        USegments { objectName: "rooflineView"; visible: Tools.roofline.all > 0; options: [{value: "roof", text: qsTr("Roof")}, {value: "prediction", text: qsTr("Prediction")}]; value: pane.view; onPicked: v => pane.view = v }
        UField { objectName: "rooflineFilter"; visible: Tools.roofline.all > 0; hint: qsTr("Name of a kernel"); Layout.preferredWidth: Theme.px(190); onTextChanged: { pane.chosen = -1; Tools.roofline.filter = text; } Keys.onEscapePressed: clear() }
        ULabel { objectName: "rooflinePeaks"; visible: text.length > 0 && (!pane.tight || Tools.roofline.all === 0 || pane.height > Theme.px(240)); Layout.columnSpan: pane.tight ? 2 : 1; text: Tools.roofline.busy ? qsTr("Measuring this machine's peaks …") : pane.view === "prediction" ? Tools.roofline.errors : Tools.roofline.peaks; color: Theme.textMuted; wrapMode: Text.Wrap; Layout.fillWidth: true }
        ULabel { objectName: "rooflineRemark"; visible: text.length > 0; Layout.columnSpan: pane.tight ? 2 : 1; text: Tools.roofline.remark; color: Theme.warning; wrapMode: Text.Wrap; Layout.fillWidth: true }
    }
    Item {
        id: area
        visible: pane.view === "roof" && Tools.roofline.count > 0 && pane.height > Theme.px(240) // below that the list alone
        Layout.fillWidth: true
        Layout.preferredHeight: Math.min(Theme.px(300), pane.height * 0.45)
        Layout.margins: Theme.px(12)
        // Both axes are logarithmic: FLOP a byte from 1/100 to 1,000, GFLOPS over six powers of ten below the roof.
        readonly property real inset: Theme.px(52)
        readonly property real end: Theme.px(26) // half of the last number of the axis
        readonly property real foot: Theme.px(24)
        readonly property real most: pane.roof.gflops > 0 ? Math.pow(10, Math.ceil(Math.log10(pane.roof.gflops))) : 1000
        function xOf(intensity) { return inset + (Math.log10(Math.max(0.01, Math.min(1000, intensity))) + 2) / 5 * (width - inset - end); }
        function yOf(gflops) { return Theme.px(8) + (Math.log10(most) - Math.log10(Math.max(most / 1e6, Math.min(most, gflops)))) / 6 * (height - foot - Theme.px(8)); }
        Canvas {
            id: plot
            objectName: "rooflinePlot"
            anchors.fill: parent
            Accessible.role: Accessible.Chart
            Accessible.name: qsTr("Roofline: arithmetic a byte against arithmetic a second")
            onWidthChanged: requestPaint()
            onHeightChanged: requestPaint()
            onPaint: {
                const c = getContext("2d");
                c.reset();
                c.font = Math.round(Theme.px(11)) + "px sans-serif";
                c.lineWidth = 1;
                for (let k = -2; k <= 3; ++k) {
                    const x = area.xOf(Math.pow(10, k));
                    c.strokeStyle = Theme.line;
                    c.beginPath(); c.moveTo(x, Theme.px(8)); c.lineTo(x, height - area.foot); c.stroke();
                    c.fillStyle = Theme.textMuted;
                    c.textAlign = "center";
                    c.fillText(k < 0 ? "1/" + Math.pow(10, -k) : Math.pow(10, k).toString(), x, height - Theme.px(8));
                }
                for (let k = 0; k <= 6; ++k) {
                    const g = area.most / Math.pow(10, k), y = area.yOf(g);
                    c.strokeStyle = Theme.line;
                    c.beginPath(); c.moveTo(area.inset, y); c.lineTo(width - area.end, y); c.stroke();
                    c.fillStyle = Theme.textMuted;
                    c.textAlign = "right";
                    if (k % 2 === 0) c.fillText(g >= 1 ? g.toString() : g.toPrecision(1), area.inset - Theme.px(6), y + Theme.px(4));
                }
                if (!(pane.roof.gflops > 0)) return;
                const line = (bandwidth, dashed) => {
                    if (!(bandwidth > 0)) return;
                    const knee = pane.roof.gflops / bandwidth;
                    c.setLineDash(dashed ? [5, 4] : []);
                    c.beginPath();
                    for (let k = -2; k <= 3.001; k += 0.05) {
                        const i = Math.pow(10, k), g = Math.min(pane.roof.gflops, i * bandwidth);
                        if (k === -2) c.moveTo(area.xOf(i), area.yOf(g)); else c.lineTo(area.xOf(i), area.yOf(g));
                    }
                    c.stroke();
                };
                c.lineWidth = 2;
                c.strokeStyle = Theme.accent;
                line(pane.roof.gbs, false);
                line(pane.roof.cacheGbs, true);
                c.setLineDash([]);
            }
        }
        ULabel { x: area.inset + Theme.px(6); y: Theme.px(10); text: qsTr("GFLOPS"); color: Theme.textFaint; font.pixelSize: Theme.small }
        ULabel { anchors.right: parent.right; anchors.rightMargin: area.end + Theme.px(4); y: area.height - area.foot - height - Theme.px(2); width: Math.min(implicitWidth, area.width - area.inset - area.end - Theme.px(8)); text: qsTr("FLOP a byte; the line is memory, the dashed one the caches"); color: Theme.textFaint; font.pixelSize: Theme.small }
        Repeater {
            model: Tools.roofline
            Rectangle {
                id: dot
                required property int index
                required property string kernel
                required property real intensity
                required property real gflops
                required property real share
                required property string time
                objectName: "rooflineDot" + index
                visible: intensity > 0 && gflops > 0
                x: area.xOf(intensity) - width / 2
                y: area.yOf(gflops) - height / 2
                width: Theme.px(index === pane.chosen ? 13 : 9)
                height: width
                radius: width / 2
                color: index === pane.chosen ? Theme.accent : Theme.raised
                border.width: 2
                border.color: share >= 0.5 ? Theme.added : Theme.removed
                UArea { id: dotArea; anchors.fill: parent; stop: false; name: dot.kernel; onClicked: pane.show(dot.index); onDoubleClicked: Tools.roofline.follow(dot.index) }
                UTip { visible: dotArea.containsMouse; text: dot.share > 0 ? qsTr("%1: %2, %3 % of the roof").arg(dot.kernel).arg(dot.time).arg(Math.round(100 * dot.share)) : dot.kernel }
            }
        }
    }
    PredictionPlot {
        visible: pane.view === "prediction" && Tools.roofline.count > 0 && pane.height > Theme.px(240)
        Layout.fillWidth: true
        Layout.preferredHeight: Math.min(Theme.px(300), pane.height * 0.45)
        Layout.margins: Theme.px(12)
        chosen: pane.chosen
        onTaken: index => pane.show(index)
    }
    Rectangle { visible: Tools.roofline.count > 0; Layout.fillWidth: true; implicitHeight: 1; color: Theme.line }
    component Head: ULabel {
        id: head
        required property string column
        property real wide: Theme.px(76)
        readonly property bool sorted: Tools.roofline.sort === column
        property string title: ""
        Layout.preferredWidth: wide
        horizontalAlignment: Text.AlignRight
        font.pixelSize: Theme.small
        font.weight: sorted ? Font.DemiBold : Font.Normal
        color: sorted ? Theme.text : Theme.textMuted
        text: title + (sorted ? (Tools.roofline.descending ? " ▾" : " ▴") : "")
        UArea { objectName: "rooflineHead-" + head.column; anchors.fill: parent; name: head.title; Accessible.role: Accessible.ColumnHeader; onClicked: pane.sortBy(head.column) }
    }
    component Cell: ULabel { property real wide: Theme.px(76); Layout.preferredWidth: wide; horizontalAlignment: Text.AlignRight; font.pixelSize: Theme.small; mono: true }
    RowLayout {
        visible: Tools.roofline.all > 0
        Layout.fillWidth: true
        Layout.margins: Theme.px(8)
        Layout.leftMargin: Theme.px(14)
        Layout.rightMargin: Theme.px(14)
        spacing: Theme.px(8)
        Head { column: "kernel"; title: qsTr("Kernel"); horizontalAlignment: Text.AlignLeft; Layout.fillWidth: true }
        Head { column: "launches"; visible: !pane.tight; title: qsTr("launches") }
        Head { column: "time"; title: qsTr("fastest") }
        Head { column: "predicted"; title: qsTr("predicted"); wide: Theme.px(96) }
        Head { column: "ratio"; title: qsTr("ratio") }
        Head { column: "waits"; visible: !pane.narrow; title: qsTr("waits for"); wide: Theme.px(92) }
        Head { column: "share"; visible: !pane.tight; title: qsTr("of the roof"); wide: Theme.px(88) }
        Head { column: "bound"; visible: !pane.tight; title: qsTr("bound by"); wide: Theme.px(84) }
        Head { column: "intensity"; visible: !pane.narrow; title: qsTr("FLOP/byte") }
        Head { column: "gflops"; visible: !pane.narrow; title: qsTr("GFLOPS") }
        Head { column: "bandwidth"; visible: !pane.narrow; title: qsTr("GB/s") }
    }
    ULabel { objectName: "rooflineNone"; visible: Tools.roofline.count === 0 && Tools.roofline.all > 0; text: qsTr("No kernel has this in its name."); color: Theme.textMuted; Layout.fillWidth: true; Layout.margins: Theme.px(14) }
    UList {
        id: list
        objectName: "rooflineList"
        name: qsTr("Kernels by their time")
        Layout.fillWidth: true
        Layout.fillHeight: true
        model: Tools.roofline
        start: pane.chosen
        onTaken: index => pane.chosen = index
        delegate: URow {
            id: row
            required property int index
            required property string kernel
            required property string launches
            required property string time
            required property string predicted
            required property real ratio
            required property string waits
            required property real share
            required property string bound
            required property real intensity
            required property real gflops
            required property real bandwidth
            owner: list
            at: index
            label: kernel + ", " + time + ", " + (ratio > 0 ? qsTr("predicted %1").arg(predicted) + ", " : "") + Math.round(100 * share) + " %, " + bound
            chosen: index === pane.chosen
            width: list.width
            height: Theme.row
            onDoubleClicked: Tools.roofline.follow(index)
            RowLayout {
                anchors.fill: parent
                anchors.leftMargin: Theme.px(14)
                anchors.rightMargin: Theme.px(14)
                spacing: Theme.px(8)
                ULabel { text: row.kernel; Layout.fillWidth: true }
                Cell { visible: !pane.tight; text: row.launches }
                Cell { text: row.time }
                Cell { text: row.ratio > 0 ? row.predicted : "–"; wide: Theme.px(96) }
                Cell { text: row.ratio > 0 ? row.ratio.toFixed(2) : "–"; color: row.ratio <= 0 ? Theme.textMuted : Math.abs(row.ratio - 1) <= 0.3 ? Theme.added : Theme.removed }
                Cell { visible: !pane.narrow; text: row.waits; wide: Theme.px(92); mono: false }
                Cell { visible: !pane.tight; text: row.share > 0 ? Math.round(100 * row.share) + " %" : "–"; wide: Theme.px(88); color: row.share >= 0.5 ? Theme.added : row.share > 0 ? Theme.removed : Theme.textMuted }
                Cell { visible: !pane.tight; text: row.bound; wide: Theme.px(84); mono: false }
                Cell { visible: !pane.narrow; text: row.intensity.toFixed(2) }
                Cell { visible: !pane.narrow; text: row.gflops.toFixed(1) }
                Cell { visible: !pane.narrow; text: row.bandwidth.toFixed(1) }
            }
        }
    }
}
