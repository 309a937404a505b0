// A line of an experiment's plot: a dot for each run, a band for the interval of the median, a bar for the median.
// Places are shares of the axis, which all lines share.
//
//   ExperimentStrip { strip: row.strip; tone: Theme.accent }
import QtQuick
import uopscope.core

Item {
    id: line
    property var strip: ({})
    property color tone: Theme.accent
    readonly property bool known: strip !== undefined && strip.mid !== undefined
    readonly property real dot: Theme.px(7)
    function place(share) { return dot / 2 + share * (width - dot); }
    Rectangle { width: parent.width; height: 1; anchors.verticalCenter: parent.verticalCenter; color: Theme.line }
    Rectangle {
        visible: line.known
        x: line.known ? line.place(line.strip.low) : 0
        width: line.known ? Math.max(2, line.place(line.strip.high) - x) : 0
        height: Math.min(parent.height, Theme.px(14))
        anchors.verticalCenter: parent.verticalCenter
        color: line.tone
        opacity: 0.3
    }
    Repeater {
        model: line.known ? line.strip.dots : []
        Rectangle {
            required property real modelData
            x: line.place(modelData) - width / 2
            width: line.dot
            height: width
            radius: width / 2
            anchors.verticalCenter: line.verticalCenter
            color: line.tone
            opacity: 0.6
        }
    }
    Rectangle {
        visible: line.known
        x: line.known ? line.place(line.strip.mid) - width / 2 : 0
        width: 2
        height: Math.min(parent.height, Theme.px(18))
        anchors.verticalCenter: parent.verticalCenter
        color: Theme.text
    }
}
