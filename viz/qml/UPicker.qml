// A choice among several options, behind a button with the present option. options: [{value, text}]
import QtQuick
import QtQuick.Controls.Basic
import uopscope.core

UButton {
    id: picker
    property string label: ""
    property var options: []
    property string value: ""
    signal picked(string value)
    readonly property string shown: { for (const o of options) if (o.value === value) return o.text; return value; }
    property bool brief: false ///< without its label, where room is scarce
    readonly property string whole: label.length > 0 ? label + ": " + shown + "  ▾" : shown + "  ▾"
    readonly property real wholeWidth: metrics.advanceWidth + Theme.px(20) ///< its width where it is not brief
    TextMetrics { id: metrics; font.family: Theme.sans; font.pixelSize: Theme.body; text: picker.whole }
    text: brief ? shown + "  ▾" : whole
    tip: brief ? label : ""
    Accessible.role: Accessible.ComboBox
    Accessible.name: label + " " + shown
    property bool byKey: false ///< the keyboard opened the menu, so the focus returns to the button
    onClicked: { byKey = activeFocus; menu.open(); }
    Popup {
        id: menu
        objectName: picker.objectName + "Menu"
        focus: true
        onOpened: { for (let i = 0; i < picker.options.length; ++i) if (picker.options[i].value === picker.value) lines.itemAt(i).take(); }
        onClosed: if (picker.byKey) picker.forceActiveFocus()
        y: picker.height + 2
        padding: Theme.px(4)
        readonly property real widest: { let most = 0; for (let i = 0; i < lines.count; ++i) most = Math.max(most, lines.itemAt(i) ? lines.itemAt(i).need : 0); return most; }
        implicitWidth: Math.max(picker.width, Theme.px(150), widest + leftPadding + rightPadding)
        background: Rectangle { radius: 7; color: Theme.raised; border.color: Theme.lineStrong }
        contentItem: Column {
            Repeater {
                id: lines
                model: picker.options
                Rectangle {
                    id: line
                    required property var modelData
                    required property int index
                    function take() { area.forceActiveFocus(); }
                    objectName: picker.objectName + "-" + modelData.value
                    width: menu.availableWidth
                    height: Theme.px(27)
                    radius: 5
                    color: area.containsMouse ? Theme.hover : "transparent"
                    Icon { visible: line.modelData.value === picker.value; name: "check"; x: Theme.px(6); width: Theme.px(13); height: width; anchors.verticalCenter: parent.verticalCenter; color: Theme.accent }
                    readonly property real need: label.implicitWidth + Theme.px(37)
                    ULabel { id: label; x: Theme.px(25); anchors.verticalCenter: parent.verticalCenter; text: line.modelData.text }
                    UArea {
                        id: area
                        anchors.fill: parent
                        name: line.modelData.text
                        Accessible.role: Accessible.MenuItem
                        Accessible.checkable: true
                        Accessible.checked: line.modelData.value === picker.value
                        Keys.onDownPressed: lines.itemAt((line.index + 1) % lines.count).take()
                        Keys.onUpPressed: lines.itemAt((line.index + lines.count - 1) % lines.count).take()
                        onClicked: { menu.close(); picker.picked(line.modelData.value); }
                    }
                }
            }
        }
    }
}
