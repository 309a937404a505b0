// The tabs of the session, with the mouse and the keyboard.
import QtQuick
import uopscope.core

Rectangle {
    id: bar
    implicitHeight: Theme.px(38)
    color: Theme.panel
    readonly property var tabs: [
        {id: "graph", text: qsTr("Graph")}, {id: "source", text: qsTr("Source")}, {id: "ir", text: qsTr("IR")}, {id: "asm", text: qsTr("Assembly")},
        {id: "uops", text: qsTr("UOps")}, {id: "links", text: qsTr("Links")}, {id: "script", text: qsTr("Script")}, {id: "compare", text: qsTr("Compare")},
        {id: "whatif", text: qsTr("What if")}, {id: "values", text: qsTr("Values")}, {id: "rule", text: qsTr("Rule")}, {id: "story", text: qsTr("Story")},
        {id: "stats", text: qsTr("Statistics")}, {id: "profile", text: qsTr("Profile")}, {id: "timeline", text: qsTr("Timeline")}, {id: "sql", text: qsTr("SQL")}
    ]
    Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
    TextMetrics { id: all; font.family: Theme.sans; font.pixelSize: Theme.body; font.weight: Font.DemiBold; text: bar.tabs.map(t => t.text).join("") }
    function move(from, by) {
        const to = (from + by + tabs.length) % tabs.length;
        Session.tab = tabs[to].id;
        repeater.itemAt(to).take();
    }
    function show(tab) { if (flick.width > 0) flick.contentX = Math.max(0, Math.min(Math.max(0, flick.contentWidth - flick.width), Math.max(tab.x + tab.width + Theme.px(30) - flick.width, Math.min(flick.contentX, tab.x - Theme.px(20))))); }
    function showTaken() { for (let i = 0; i < repeater.count; ++i) if (repeater.itemAt(i).taken) show(repeater.itemAt(i)); }
    // Where not all names fit, the bar scrolls to the name of the current tab.
    Flickable {
        id: flick
        anchors.fill: parent
        contentWidth: row.wide + Theme.px(12)
        flickableDirection: Flickable.HorizontalFlick
        boundsBehavior: Flickable.StopAtBounds
        interactive: contentWidth > width
        clip: true
        onWidthChanged: Qt.callLater(bar.showTaken)
        onContentWidthChanged: Qt.callLater(bar.showTaken)
        // Places are sums of widths. A Row would be asked for them while it lays out.
        Item {
            id: row
            readonly property real wide: repeater.count > 0 && repeater.itemAt(repeater.count - 1) ? repeater.itemAt(repeater.count - 1).x + repeater.itemAt(repeater.count - 1).width : 0
            x: Theme.px(6)
            Repeater {
                id: repeater
                model: bar.tabs
                Item {
                    id: tab
                    required property var modelData
                    required property int index
                    objectName: "tab-" + modelData.id
                    function take() { area.forceActiveFocus(); }
                    readonly property bool taken: Session.tab === modelData.id
                    onTakenChanged: if (taken) bar.show(tab)
                    // In a narrow window the gaps between names shrink first.
                    readonly property real room: (bar.width - Theme.px(12) - all.advanceWidth) / bar.tabs.length
                    readonly property Item before: index > 0 ? repeater.itemAt(index - 1) : null
                    x: before ? before.x + before.width : 0
                    width: own.advanceWidth + Math.max(Theme.px(8), Math.min(Theme.px(26), room))
                    TextMetrics { id: own; font: all.font; text: tab.modelData.text }
                    height: bar.height
                    ULabel {
                        id: label
                        anchors.centerIn: parent
                        text: tab.modelData.text
                        color: tab.taken || area.containsMouse ? Theme.text : Theme.textMuted
                        font.weight: tab.taken ? Font.DemiBold : Font.Normal
                    }
                    Rectangle { visible: tab.taken; width: parent.width - Theme.px(14); x: Theme.px(7); height: 2; anchors.bottom: parent.bottom; color: Theme.accent }
                    // One stop of the keyboard; arrows move to the next tab.
                    UArea {
                        id: area
                        anchors.fill: parent
                        stop: tab.taken
                        name: tab.modelData.text
                        Accessible.role: Accessible.PageTab
                        Accessible.selected: tab.taken
                        Keys.onShortcutOverride: event => event.accepted = event.modifiers === Qt.NoModifier && [Qt.Key_Left, Qt.Key_Right, Qt.Key_Space, Qt.Key_Return].indexOf(event.key) >= 0
                        Keys.onLeftPressed: bar.move(tab.index, -1)
                        Keys.onRightPressed: bar.move(tab.index, 1)
                        onClicked: Session.tab = tab.modelData.id
                    }
                }
            }
        }
    }
    Rectangle { // marks hidden tabs, at either end
        visible: flick.contentX > 1
        width: Theme.px(18)
        height: parent.height - 1
        color: Theme.panel
        ULabel { anchors.centerIn: parent; text: "‹"; color: Theme.textMuted }
        UArea { anchors.fill: parent; name: qsTr("More tabs"); stop: false; onClicked: flick.contentX = 0 }
    }
    Rectangle {
        visible: flick.contentWidth - flick.contentX > flick.width + 1
        anchors.right: parent.right
        width: Theme.px(22)
        height: parent.height - 1
        color: Theme.panel
        ULabel { anchors.centerIn: parent; text: "›"; color: Theme.textMuted }
        UArea { anchors.fill: parent; name: qsTr("More tabs"); stop: false; onClicked: flick.contentX = flick.contentWidth - flick.width }
    }
}
