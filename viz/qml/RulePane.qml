// The rule bench: rules in Python, tried on the open trace. Above the editor, below what came of it.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    objectName: "rulePane"
    color: Theme.canvas
    readonly property bool fresh: !Tools.rule.busy && Tools.rule.problem.length === 0 && Tools.rule.rules.length === 0
    signal openAsked()
    signal saveAsked()
    function ink(tone) { return tone === "bad" ? Theme.error : tone === "good" ? Theme.added : Theme.textMuted; }
    readonly property string word: { const m = /"[A-Za-z0-9_ *()\/]*$|[A-Za-z_.][A-Za-z_.0-9]*$/.exec(editor.text.slice(editor.text.lastIndexOf("\n", editor.cursorPosition - 1) + 1, editor.cursorPosition).split(/[(,=\[]\s*/).pop()); return m ? m[0] : ""; }
    function put(name) {
        const at = editor.cursorPosition, from = at - word.length;
        editor.remove(from, at);
        editor.insert(from, name);
        editor.forceActiveFocus();
    }

    component Heading: ULabel { color: Theme.textMuted; wrapMode: Text.Wrap; elide: Text.ElideNone; Layout.fillWidth: true; Layout.topMargin: Theme.px(8) }
    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        Rectangle {
            Layout.fillWidth: true
            // Before something came of the rules their text has the room that it needs.
            Layout.preferredHeight: pane.fresh ? Math.max(pane.height * 0.42, Math.min(pane.height * 0.75, pane.height - tools.implicitHeight - Theme.px(80), editor.contentHeight + Theme.px(40))) : pane.height * 0.42
            color: Theme.window
            UTextScroll {
                anchors.fill: parent
                anchors.margins: Theme.px(8)
                TextArea {
                    id: editor
                    objectName: "ruleText"
                    property Item typingHelp: names.parent
                    text: Tools.rule.text
                    onTextChanged: if (activeFocus) Tools.rule.text = text
                    color: Theme.text
                    font.family: Theme.mono
                    font.pixelSize: Theme.px(12.5)
                    selectByMouse: true
                    selectionColor: Theme.accent
                    selectedTextColor: Theme.accentText
                    background: null
                    tabStopDistance: Theme.px(16)
                    Accessible.name: qsTr("Rules in Python")
                    Keys.onPressed: event => {
                        const enter = event.key === Qt.Key_Return || event.key === Qt.Key_Enter;
                        if (enter && event.modifiers & Qt.ControlModifier) Tools.rule.run();
                        else if (event.key === Qt.Key_Tab && event.modifiers === Qt.NoModifier) { if (names.count > 0) pane.put(names.itemAt(0).text); else insert(cursorPosition, "  "); }
                        else return;
                        event.accepted = true;
                    }
                }
            }
        }
        Flow {
            Layout.fillWidth: true
            Layout.margins: Theme.px(6)
            visible: names.count > 0
            spacing: Theme.px(6)
            Repeater {
                id: names
                model: editor.activeFocus ? Tools.rule.complete(pane.word) : []
                UChip { required property string modelData; required property int index; objectName: "ruleName" + index; text: modelData; link: true; onClicked: pane.put(modelData) }
            }
        }
        Rectangle {
            Layout.fillWidth: true
            implicitHeight: tools.implicitHeight + Theme.px(12)
            color: Theme.panel
            Rectangle { width: parent.width; height: 1; color: Theme.line }
            Flow {
                id: tools
                x: Theme.px(8)
                y: Theme.px(6)
                width: parent.width - Theme.px(16)
                spacing: Theme.px(8)
                UButton { objectName: "ruleRun"; primary: true; text: Tools.rule.busy ? qsTr("Cancel") : qsTr("Try"); tip: qsTr("On every graph of this trace (Ctrl Enter)"); onClicked: Tools.rule.busy ? Tools.rule.cancel() : Tools.rule.run() }
                UButton { objectName: "ruleTimes"; quiet: false; enabled: !Tools.rule.busy; text: qsTr("Try and measure"); tip: qsTr("Also runs the kernels that change, and times them"); onClicked: Tools.rule.run(true) }
                UButton { objectName: "ruleOpen"; quiet: false; text: qsTr("Open…"); onClicked: pane.openAsked() }
                UButton { objectName: "ruleSave"; quiet: false; text: qsTr("Save…"); onClicked: pane.saveAsked() }
                UButton { objectName: "ruleRecord"; quiet: false; text: qsTr("Record with it"); tip: qsTr("Records the script of this trace again, with these rules"); onClicked: Tools.rule.record() }
                ULabel { height: Theme.px(28); verticalAlignment: Text.AlignVCenter; text: Tools.rule.file; color: Theme.textFaint; font.pixelSize: Theme.small }
            }
        }
        ULabel {
            objectName: "ruleProblem"
            visible: Tools.rule.problem.length > 0
            Layout.fillWidth: true
            Layout.margins: Theme.px(12)
            wrapMode: Text.Wrap
            elide: Text.ElideNone
            color: Theme.error
            text: Tools.rule.problem
        }
        RowLayout {
            Layout.fillWidth: true
            Layout.fillHeight: true
            spacing: 0
            Flickable {
                id: flick
                Layout.fillWidth: true
                Layout.fillHeight: true
                contentHeight: results.implicitHeight + Theme.px(20)
                boundsBehavior: Flickable.StopAtBounds
                clip: true
                ScrollBar.vertical: UScrollBar {}
                ColumnLayout {
                    id: results
                    x: Theme.px(14)
                    width: flick.width - Theme.px(28)
                    spacing: Theme.px(4)
                    ULabel { objectName: "ruleHint"; visible: pane.fresh; Layout.fillWidth: true; Layout.topMargin: Theme.px(10); wrapMode: Text.Wrap; elide: Text.ElideNone; color: Theme.textMuted; text: qsTr("Try shows where the rules match in this trace, what they would make of it, whether that is right, and which kernels would change.") }
                    ULabel { visible: Tools.rule.busy; Layout.topMargin: Theme.px(10); text: qsTr("Trying the rules on every graph …"); color: Theme.textMuted }
                    Repeater {
                        model: Tools.rule.rules
                        ULabel { required property var modelData; required property int index; objectName: "ruleVerdict" + index; Layout.fillWidth: true; Layout.topMargin: Theme.px(8); wrapMode: Text.Wrap; elide: Text.ElideNone; text: (modelData.tone === "bad" ? "✗ " : modelData.tone === "good" ? "✓ " : "") + modelData.rule + ": " + modelData.verdict; color: pane.ink(modelData.tone) }
                    }
                    Heading { visible: Tools.rule.places.length > 0; text: qsTr("Where it matches") }
                    Repeater {
                        model: Tools.rule.places
                        Rectangle {
                            id: place
                            required property var modelData
                            required property int index
                            Layout.fillWidth: true
                            implicitHeight: lines.implicitHeight + Theme.px(8)
                            radius: 5
                            color: index === Tools.rule.chosen ? Theme.selection : area.containsMouse ? Theme.hover : "transparent"
                            opacity: modelData.joins ? 1 : 0.65
                            Column {
                                id: lines
                                x: Theme.px(8)
                                y: Theme.px(4)
                                width: parent.width - Theme.px(16)
                                ULabel { width: parent.width; text: qsTr("%1 × %2 in %3, %4").arg(place.modelData.nodes).arg(place.modelData.rule).arg(place.modelData.kernel).arg(place.modelData.passName) + (place.modelData.joins ? "" : qsTr(" (if it ran there)")) }
                                ULabel { visible: place.modelData.joins; width: parent.width; mono: true; font.pixelSize: Theme.small; color: Theme.removed; text: "− " + place.modelData.before }
                                ULabel { visible: place.modelData.joins; width: parent.width; mono: true; font.pixelSize: Theme.small; color: Theme.added; text: "+ " + place.modelData.after }
                            }
                            UArea { id: area; objectName: "rulePlace" + place.index; anchors.fill: parent; cursorShape: Qt.PointingHandCursor; name: place.modelData.kernel + " " + place.modelData.passName; onClicked: Tools.rule.chosen = place.index; onDoubleClicked: Tools.rule.goTo(place.index) }
                        }
                    }
                    Heading { visible: Tools.rule.summary.length > 0; objectName: "ruleSummary"; text: Tools.rule.summary }
                    Repeater {
                        model: Tools.rule.kernels
                        ColumnLayout {
                            id: kernel
                            required property var modelData
                            Layout.fillWidth: true
                            spacing: 0
                            ULabel { Layout.fillWidth: true; text: kernel.modelData.kernel + qsTr(": instructions %1, vector registers %2, rewrites %3").arg(kernel.modelData.instructions).arg(kernel.modelData.registers).arg(kernel.modelData.rewrites) + (kernel.modelData.time.length > 0 ? ", " + kernel.modelData.time : "") }
                            ULabel { visible: text.length > 0; Layout.fillWidth: true; wrapMode: Text.Wrap; maximumLineCount: 3; text: kernel.modelData.verdict; font.pixelSize: Theme.small; color: pane.ink(kernel.modelData.tone) }
                        }
                    }
                }
            }
            Rectangle { visible: pictures.visible; Layout.preferredWidth: 1; Layout.fillHeight: true; color: Theme.line }
            ColumnLayout {
                id: pictures
                objectName: "rulePictures"
                visible: Tools.rule.chosen >= 0
                Layout.fillWidth: false // what came of the rules has the other half
                Layout.preferredWidth: pane.width * 0.5
                Layout.fillHeight: true
                spacing: 0
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
                Drawn { which: "rulePattern"; visible: pane.height > Theme.px(560); source: Tools.rule.pattern; title: qsTr("Pattern"); Layout.preferredHeight: pane.height * 0.2 }
                Rectangle { visible: pane.height > Theme.px(560); Layout.fillWidth: true; implicitHeight: 1; color: Theme.line }
                Drawn { which: "ruleRewrite"; source: Tools.rule.rewrite; title: qsTr("What it makes of the first node there: − before, + after"); Layout.preferredHeight: pane.height * 0.3 }
                UButton { objectName: "ruleGo"; Layout.margins: Theme.px(6); Layout.alignment: Qt.AlignRight; quiet: false; text: qsTr("Show in the graph"); tip: qsTr("To the first node that the rule matches there (double click)"); onClicked: Tools.rule.goTo(Tools.rule.chosen) }
            }
        }
    }
}
