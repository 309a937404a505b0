// By hand: what matches in the graph of a step, what the rule in front would make, and the graph that is in hand.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

ColumnLayout {
    id: pane
    objectName: "handPane"
    spacing: 0
    readonly property bool narrow: width < Theme.px(520)
    onVisibleChanged: if (visible) filter.forceActiveFocus(); else { filter.focus = false; list.focus = false; } // keys are the window's again

    component Drawn: Item {
        id: drawn
        property GraphSource source
        property alias title: name.text
        property string which
        Layout.fillWidth: true
        Layout.fillHeight: true
        ULabel { id: name; x: Theme.px(12); y: Theme.px(6); width: parent.width - Theme.px(24); color: Theme.textMuted; font.pixelSize: Theme.small; z: 1 }
        GraphCanvas {
            id: view
            objectName: drawn.which
            anchors.fill: parent
            anchors.topMargin: Theme.px(24)
            source: drawn.source
            theme: Theme
            follow: false
            Accessible.role: Accessible.Graphic
            Accessible.focusable: true
            Accessible.name: drawn.title
            Rectangle { visible: view.entered; anchors.fill: parent; color: "transparent"; border.width: 2; border.color: Theme.accent }
            onWidthChanged: Qt.callLater(fit)
            onHeightChanged: Qt.callLater(fit)
        }
        Connections { target: drawn.source; function onPictureChanged() { Qt.callLater(view.fit); } }
    }
    Flow {
        id: path
        Layout.fillWidth: true
        Layout.margins: Theme.px(10)
        Layout.leftMargin: Theme.px(14)
        spacing: Theme.px(8)
        ULabel { height: Theme.px(28); verticalAlignment: Text.AlignVCenter; font.weight: Font.DemiBold; text: qsTr("By hand from %1").arg(Tools.hand.place); width: Math.min(implicitWidth, path.width) }
        Repeater {
            model: Tools.hand.chosen
            UChip { required property string modelData; required property int index; objectName: "handChosen" + index; height: Theme.px(28); sign: (index + 1).toString(); text: modelData }
        }
        UButton { objectName: "handApply"; enabled: Tools.hand.current >= 0 && !Tools.hand.busy; quiet: false; text: qsTr("Apply"); tip: qsTr("The rewrite in front is made (Return, or a double click)"); onClicked: Tools.hand.choose(Tools.hand.current) }
        UButton { objectName: "handBack"; enabled: Tools.hand.chosen.length > 0 && !Tools.hand.busy; quiet: false; text: qsTr("Take back"); tip: qsTr("The graph before the last choice (Ctrl Z)"); onClicked: Tools.hand.takeBack() }
        UButton { objectName: "handGoOn"; enabled: Tools.hand.chosen.length > 0 && !Tools.hand.busy; primary: true; text: qsTr("Go on"); tip: qsTr("The compiler finishes the kernel from this graph (Ctrl Enter)"); onClicked: Tools.hand.goOn() }
        UButton { objectName: "handClose"; quiet: false; icon16: "close"; text: qsTr("Leave"); tip: qsTr("Lets the graph go (Esc)"); onClicked: Tools.hand.close() }
        ULabel { objectName: "handSummary"; height: Theme.px(28); verticalAlignment: Text.AlignVCenter; color: Theme.textMuted; text: Tools.hand.busy ? qsTr("Asking every rule …") : Tools.hand.summary; width: Math.min(implicitWidth, path.width) }
    }
    GridLayout {
        Layout.fillWidth: true
        Layout.fillHeight: true
        columns: pane.narrow ? 1 : 2
        columnSpacing: 0
        rowSpacing: 0
        ColumnLayout {
            Layout.preferredWidth: pane.narrow ? pane.width : pane.width * 0.45
            Layout.maximumWidth: pane.narrow ? pane.width : pane.width * 0.45
            Layout.fillHeight: true
            spacing: Theme.px(6)
            UField {
                id: filter
                objectName: "handFilter"
                Layout.fillWidth: true
                Layout.leftMargin: Theme.px(14)
                Layout.rightMargin: Theme.px(14)
                hint: qsTr("Rules, passes, operations")
                onTextChanged: Tools.hand.filter = text
                Connections { target: Tools.hand; function onChanged() { if (Tools.hand.filter.length === 0) filter.clear(); } }
                Keys.onPressed: event => {
                    const enter = event.key === Qt.Key_Return || event.key === Qt.Key_Enter;
                    if (event.key === Qt.Key_Down) list.forceActiveFocus();
                    else if (enter && event.modifiers & Qt.ControlModifier) Tools.hand.goOn();
                    else if (enter) Tools.hand.choose(Tools.hand.current);
                    else if (event.key === Qt.Key_Escape) { if (text.length > 0) clear(); else Tools.hand.close(); }
                    else return;
                    event.accepted = true;
                }
            }
            UList {
                id: list
                objectName: "handList"
                name: qsTr("Rewrites that match")
                Layout.fillWidth: true
                Layout.fillHeight: true
                Layout.minimumHeight: Theme.px(90)
                model: Tools.hand
                start: Tools.hand.current
                onCurrentIndexChanged: if (activeFocus && currentIndex >= 0) Tools.hand.current = currentIndex
                function take(index) { currentIndex = index; Tools.hand.current = index; } // a click chooses the row, not the rewrite
                onTaken: index => Tools.hand.choose(index)
                Keys.onShortcutOverride: event => event.accepted = [Qt.Key_Up, Qt.Key_Down, Qt.Key_Home, Qt.Key_End, Qt.Key_PageUp, Qt.Key_PageDown, Qt.Key_Return, Qt.Key_Enter, Qt.Key_Space, Qt.Key_Escape].indexOf(event.key) >= 0 || (event.key === Qt.Key_Z && event.modifiers & Qt.ControlModifier)
                Keys.onEscapePressed: Tools.hand.close()
                delegate: URow {
                    id: row
                    required property int index
                    required property string name
                    required property string passName
                    required property string before
                    required property string after
                    required property string reason
                    owner: list
                    at: index
                    label: name + ", " + passName + ": " + before + " " + qsTr("becomes") + " " + after
                    chosen: index === Tools.hand.current
                    width: list.width
                    height: lines.implicitHeight + Theme.px(10)
                    onDoubleClicked: Tools.hand.choose(index)
                    Column {
                        id: lines
                        x: Theme.px(14)
                        y: Theme.px(5)
                        width: parent.width - Theme.px(28)
                        Item {
                            width: parent.width
                            height: Theme.px(20)
                            ULabel { id: ruleName; text: row.name; width: parent.width - passName.width - Theme.px(8) }
                            ULabel { id: passName; anchors.right: parent.right; text: row.passName; color: Theme.textFaint; font.pixelSize: Theme.small }
                        }
                        ULabel { width: parent.width; mono: true; font.pixelSize: Theme.small; color: Theme.removed; text: "− " + row.before }
                        ULabel { width: parent.width; mono: true; font.pixelSize: Theme.small; color: Theme.added; text: "+ " + row.after }
                        ULabel { visible: row.reason.length > 0 && row.chosen; width: parent.width; wrapMode: Text.Wrap; font.pixelSize: Theme.small; color: Theme.textMuted; text: row.reason }
                    }
                }
            }
        }
        RowLayout {
            Layout.fillWidth: true
            Layout.fillHeight: true
            Layout.minimumHeight: Theme.px(120)
            spacing: 0
            Rectangle { visible: !pane.narrow; Layout.preferredWidth: 1; Layout.fillHeight: true; color: Theme.line }
            GridLayout {
                columns: pane.narrow ? 2 : 1
                rowSpacing: 0
                columnSpacing: 0
                Layout.fillWidth: true
                Layout.fillHeight: true
                Drawn { which: "handRewrite"; source: Tools.hand.rewrite; title: qsTr("What it would make: − before, + after") }
                Drawn { which: "handGraph"; source: Tools.hand.graph; title: Tools.hand.chosen.length > 0 ? qsTr("The graph in hand, after %1").arg(Tools.hand.chosen[Tools.hand.chosen.length - 1]) : qsTr("The graph in hand") }
            }
        }
    }
    Shortcut { enabled: pane.visible; sequences: ["Ctrl+Z"]; onActivated: Tools.hand.takeBack() }
    Shortcut { enabled: pane.visible; sequences: ["Ctrl+Return", "Ctrl+Enter"]; onActivated: Tools.hand.goOn() }
}
