// A line's part of the curve of registers: a bar as long as the registers in use, a mark where the registers end, the number
// where most are in use. What does not fit stands beyond the mark, in the colour of errors.
//
//   RegisterBar { model: Session.code; number: 12; alive: 36 }
import QtQuick
import uopscope.core

Item {
    id: bar
    property CodeModel model: null
    property int number: 0 ///< of the line
    property int alive: -1 ///< -1: the line is no instruction
    readonly property int most: model ? model.registersMost : 0
    readonly property int limit: model ? model.registersLimit : 0
    readonly property bool isPeak: model !== null && number === model.registersPeak
    readonly property int longest: Math.max(1, most, Math.min(limit, 2 * most))
    readonly property real curve: Theme.px(48)
    objectName: "registerBar"
    width: curve + Theme.px(24)
    Accessible.role: Accessible.StaticText
    Accessible.name: alive >= 0 ? qsTr("%1 of %2 registers in use").arg(alive).arg(limit) : ""
    function lengthOf(registers) { return curve * registers / longest; }
    Rectangle {
        x: bar.width - bar.curve
        width: bar.lengthOf(Math.max(0, Math.min(bar.alive, bar.limit)))
        height: parent.height
        color: Theme.accent
        opacity: 0.45
    }
    Rectangle {
        objectName: "registersOver"
        visible: bar.alive > bar.limit
        x: bar.width - bar.curve + bar.lengthOf(bar.limit)
        width: bar.lengthOf(bar.alive - bar.limit)
        height: parent.height
        color: Theme.error
    }
    Rectangle {
        objectName: "registersLimit"
        visible: bar.limit <= bar.longest
        x: bar.width - bar.curve + bar.lengthOf(bar.limit) - width
        width: 1
        height: parent.height
        color: Theme.textMuted
    }
    ULabel {
        visible: bar.isPeak
        text: bar.alive
        mono: true
        width: bar.width - bar.curve - Theme.px(4)
        height: parent.height
        horizontalAlignment: Text.AlignRight
        font.pixelSize: Theme.px(11.5)
        color: bar.alive > bar.limit ? Theme.error : Theme.text
    }
    HoverHandler { id: hover; enabled: bar.alive >= 0 }
    UTip { visible: hover.hovered && text.length > 0; text: hover.hovered && bar.model ? bar.model.registersAt(bar.number) : "" }
}
