// Predicted against measured time of each kernel, both logarithmic: the diagonal, a band of 30 %, a dot a kernel. A click chooses the
// kernel's row, a double click goes to the kernel.
import QtQuick
import uopscope.core

Item {
    id: area
    property int chosen: -1
    signal taken(int index)
    readonly property real inset: Theme.px(60)
    readonly property real end: Theme.px(30) // half of the last number of the axis
    readonly property real foot: Theme.px(24)
    // The powers of ten around all times, in seconds.
    property real least: -9
    property real most: 0
    function place(seconds) { return (Math.log10(seconds) - least) / Math.max(1, most - least); }
    function xOf(seconds) { return inset + place(seconds) * (width - inset - end); }
    function yOf(seconds) { return height - foot - place(seconds) * (height - foot - Theme.px(10)); }
    function unit(power) { return power >= 0 ? Math.pow(10, power) + " s" : power >= -3 ? Math.pow(10, power + 3) + " ms" : power >= -6 ? Math.pow(10, power + 6) + " µs" : Math.pow(10, power + 9) + " ns"; }
    function measure() {
        let low = 0, high = -9, some = false;
        for (let k = 0; k < dots.count; ++k) {
            const dot = dots.itemAt(k);
            if (!dot || !dot.known) continue;
            some = true;
            low = Math.min(low, Math.log10(dot.seconds), Math.log10(dot.predictedSeconds));
            high = Math.max(high, Math.log10(dot.seconds), Math.log10(dot.predictedSeconds));
        }
        least = some ? Math.floor(low) : -9;
        most = some ? Math.max(Math.ceil(high), least + 1) : 0;
        plot.requestPaint();
    }
    onWidthChanged: plot.requestPaint()
    onHeightChanged: plot.requestPaint()
    Connections { target: Tools.roofline; function onChanged() { Qt.callLater(area.measure); } }
    Connections { target: Theme; function onChanged() { plot.requestPaint(); } }
    Component.onCompleted: measure()

    Canvas {
        id: plot
        objectName: "predictionPlot"
        anchors.fill: parent
        Accessible.role: Accessible.Chart
        Accessible.name: qsTr("Predicted against measured time of each kernel")
        onPaint: {
            const c = getContext("2d");
            c.reset();
            c.font = Math.round(Theme.px(11)) + "px sans-serif";
            const from = Math.pow(10, area.least), to = Math.pow(10, area.most), top = Theme.px(10), bottom = height - area.foot;
            c.save();
            c.beginPath(); c.rect(area.inset, top, width - area.inset - area.end, bottom - top); c.clip();
            c.fillStyle = Qt.alpha(Theme.accent, 0.14);
            c.beginPath();
            c.moveTo(area.xOf(from), area.yOf(from * 0.7));
            c.lineTo(area.xOf(to), area.yOf(to * 0.7));
            c.lineTo(area.xOf(to), area.yOf(to * 1.3));
            c.lineTo(area.xOf(from), area.yOf(from * 1.3));
            c.closePath(); c.fill();
            c.restore();
            c.lineWidth = 1;
            const step = width < Theme.px(560) && area.most - area.least > 5 ? 2 : 1;
            for (let k = area.least; k <= area.most; ++k) {
                const seconds = Math.pow(10, k), x = area.xOf(seconds), y = area.yOf(seconds);
                c.strokeStyle = Theme.line;
                c.beginPath(); c.moveTo(x, top); c.lineTo(x, bottom); c.stroke();
                c.beginPath(); c.moveTo(area.inset, y); c.lineTo(width - area.end, y); c.stroke();
                if ((k - area.least) % step !== 0) continue;
                c.fillStyle = Theme.textMuted;
                c.textAlign = "center";
                c.fillText(area.unit(k), x, height - Theme.px(8));
                c.textAlign = "right";
                c.fillText(area.unit(k), area.inset - Theme.px(6), y + Theme.px(4));
            }
            c.lineWidth = 2;
            c.strokeStyle = Theme.accent;
            c.beginPath(); c.moveTo(area.xOf(from), area.yOf(from)); c.lineTo(area.xOf(to), area.yOf(to)); c.stroke();
        }
    }
    ULabel { x: area.inset + Theme.px(6); y: Theme.px(12); width: Math.max(0, Math.min(implicitWidth, area.width - area.inset - area.end - Theme.px(12))); text: qsTr("predicted time"); color: Theme.textFaint; font.pixelSize: Theme.small }
    ULabel { anchors.right: parent.right; anchors.rightMargin: area.end + Theme.px(4); y: area.height - area.foot - height - Theme.px(2); width: Math.min(implicitWidth, area.width - area.inset - area.end - Theme.px(8)); text: qsTr("measured time; the band is 30 % around the diagonal"); color: Theme.textFaint; font.pixelSize: Theme.small }
    Repeater {
        id: dots
        model: Tools.roofline
        Rectangle {
            id: dot
            required property int index
            required property string kernel
            required property real seconds
            required property real predictedSeconds
            required property real ratio
            required property string time
            required property string predicted
            required property string parts
            readonly property bool known: seconds > 0 && predictedSeconds > 0
            readonly property bool near: Math.abs(ratio - 1) <= 0.3
            objectName: "predictionDot" + index
            visible: known
            x: known ? area.xOf(seconds) - width / 2 : 0
            y: known ? area.yOf(predictedSeconds) - height / 2 : 0
            z: index === area.chosen ? 1 : 0
            width: Theme.px(index === area.chosen ? 13 : 9)
            height: width
            radius: width / 2
            color: index === area.chosen ? Theme.accent : Theme.raised
            border.width: 2
            border.color: near ? Theme.added : Theme.removed
            UArea { id: dotArea; anchors.fill: parent; stop: false; name: dot.kernel; onClicked: area.taken(dot.index); onDoubleClicked: Tools.roofline.follow(dot.index) }
            UTip { visible: dotArea.containsMouse; text: qsTr("%1: measured %2, predicted %3").arg(dot.kernel).arg(dot.time).arg(dot.predicted) + (dot.parts.length > 0 ? "\n" + dot.parts : "") }
        }
    }
}
