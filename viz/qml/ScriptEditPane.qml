// The script as a text to change, beside the graph: saved, recorded again, compared with the state before.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    objectName: "scriptEditPane"
    color: Theme.window
    signal compareAsked(string before)
    readonly property bool recorded: Tools.editor.before.length > 0 && !Session.recorder.running && !Session.growing
    function lineAt(position) { return editor.text.slice(0, position).split("\n").length; }
    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        Rectangle {
            Layout.fillWidth: true
            implicitHeight: tools.implicitHeight + Theme.px(12)
            color: Theme.panel
            Flow {
                id: tools
                x: Theme.px(10)
                y: Theme.px(6)
                width: parent.width - Theme.px(20)
                spacing: Theme.px(8)
                UButton { objectName: "editRun"; primary: true; enabled: !Session.recorder.running; text: qsTr("Save and record"); tip: qsTr("Writes the file and records it again (Ctrl Enter)"); onClicked: Tools.editor.run() }
                UButton { objectName: "editSave"; quiet: false; enabled: Tools.editor.unsaved; text: qsTr("Save"); onClicked: Tools.editor.save() }
                UButton { objectName: "editCompare"; visible: pane.recorded; quiet: false; text: qsTr("What changed"); tip: qsTr("All kernels of the trace before beside those of this one, by cause"); onClicked: Tools.replay.openFiles([Tools.editor.before, Session.path]) }
                UButton { objectName: "editComparePlace"; visible: pane.recorded; quiet: false; text: qsTr("This place, before and now"); onClicked: pane.compareAsked(Tools.editor.before) }
                UButton { objectName: "editClose"; quiet: false; text: qsTr("As recorded"); tip: qsTr("The script as the trace has it, with the kernels of each line"); onClicked: Tools.editor.close() }
                ULabel { height: Theme.px(28); verticalAlignment: Text.AlignVCenter; width: Math.min(implicitWidth, tools.width); text: (Tools.editor.unsaved ? "● " : "") + Tools.editor.file; color: Theme.textFaint; font.pixelSize: Theme.small; elide: Text.ElideLeft }
            }
            Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
        }
        USplit {
            Layout.fillWidth: true
            Layout.fillHeight: true
            UTextScroll {
                SplitView.preferredWidth: pane.width * 0.55
                SplitView.minimumWidth: Theme.px(200)
                TextArea {
                    id: editor
                    objectName: "editText"
                    text: Tools.editor.text
                    onTextChanged: if (activeFocus) Tools.editor.text = text
                    color: Theme.text
                    font.family: Theme.mono
                    font.pixelSize: Theme.px(12.5)
                    selectByMouse: true
                    selectionColor: Theme.accent
                    selectedTextColor: Theme.accentText
                    background: null
                    padding: Theme.px(10)
                    Accessible.name: qsTr("The script")
                    Keys.onPressed: event => {
                        const enter = event.key === Qt.Key_Return || event.key === Qt.Key_Enter;
                        if (enter && event.modifiers & Qt.ControlModifier) Tools.editor.run();
                        else if (event.key === Qt.Key_Tab && event.modifiers === Qt.NoModifier) insert(cursorPosition, "  ");
                        else return;
                        event.accepted = true;
                    }
                }
            }
            Item {
                SplitView.fillWidth: true
                SplitView.minimumWidth: Theme.px(160)
                GraphCanvas {
                    id: view
                    objectName: "editGraph"
                    anchors.fill: parent
                    anchors.topMargin: Theme.px(24)
                    source: Session.graph
                    theme: Theme
                    Accessible.role: Accessible.Graphic
                    Accessible.focusable: true
                    Accessible.name: qsTr("The graph in front")
                    onNodeClicked: id => Session.node = id
                    Rectangle { visible: view.entered; anchors.fill: parent; color: "transparent"; border.width: 2; border.color: Theme.accent }
                }
                ULabel { x: Theme.px(10); y: Theme.px(4); width: parent.width - Theme.px(20); color: Theme.textMuted; font.pixelSize: Theme.small; text: Session.scopeName + " › " + Session.passName }
            }
        }
    }
}
