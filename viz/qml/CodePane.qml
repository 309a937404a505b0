// A text as lines: kernel source, IR, assembly, UOps, script. Click and Shift-click choose lines, Ctrl+C copies them.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    property CodeModel model
    property LinkedLines lit: null ///< marks the lines of the node that is selected in the graph
    property string what: ""
    property int first: 0
    property int last: 0
    property bool searching: false
    color: Theme.canvas
    function search() { searching = true; field.forceActiveFocus(); field.selectAll(); }
    function find(direction) {
        const at = model.find(field.text, Math.max(1, first), direction);
        if (at > 0) { first = last = at; list.positionViewAtIndex(at - 1, ListView.Center); }
    }
    function endSearch() { searching = false; list.forceActiveFocus(); }
    Connections {
        target: pane.model
        function onChanged() { if (pane.model.currentLine > 0) list.positionViewAtIndex(pane.model.currentLine - 1, ListView.Center); }
        function onModelReset() { pane.first = pane.last = 0; }
    }
    Connections {
        target: pane.lit
        function onLitChanged() { if (Session.node >= 0 && pane.lit.firstLit >= 0 && !list.moving) list.positionViewAtIndex(pane.lit.firstLit, ListView.Contain); }
    }
    TextEdit { id: clipboard; visible: false }
    function copy(from, to) { clipboard.text = model.plainText(from, to); clipboard.selectAll(); clipboard.copy(); Session.showNotice(qsTr("Copied.")); }
    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        Rectangle {
            visible: pane.model.lineCount > 0
            Layout.fillWidth: true
            implicitHeight: tools.implicitHeight + Theme.px(10)
            color: Theme.panel
            ToolLine {
                id: tools
                x: Theme.px(14)
                y: Theme.px(5)
                width: parent.width - Theme.px(22)
                text: pane.what
                detail: (pane.model.lineCount === 1 ? qsTr("1 line") : qsTr("%1 lines").arg(pane.model.lineCount)) + (pane.model.registersText.length > 0 ? ", " + pane.model.registersText : "")
                UField {
                    id: field
                    visible: pane.searching
                    hint: qsTr("Find in text")
                    implicitWidth: Theme.px(220)
                    onTextChanged: pane.find(1)
                    Keys.onReturnPressed: event => pane.find(event.modifiers & Qt.ShiftModifier ? -1 : 1)
                    Keys.onEscapePressed: pane.endSearch()
                }
                UButton {
                    objectName: "bisectLine"
                    visible: Session.tab === "source" && pane.model === Session.code && Session.scopeKind === "kernel" && pane.first > 0
                    enabled: !Tools.bisect.busy
                    quiet: false
                    text: qsTr("Which rewrite made line %1?").arg(pane.first)
                    tip: qsTr("Compiles the kernel with fewer and fewer rewrites until the line is gone")
                    onClicked: Tools.bisect.ofLine(pane.model.plainText(pane.first, pane.first))
                }
                UButton { objectName: "bisectScript"; visible: pane.model === Session.scriptCode; enabled: !Tools.bisect.busy; quiet: false; text: qsTr("Which rewrite makes it fail?"); tip: qsTr("Runs the script with fewer and fewer rewrites until it ends without an error"); onClicked: Tools.bisect.ofScript() }
                UButton { objectName: "editOpen"; visible: pane.model === Session.scriptCode; quiet: false; text: qsTr("Edit"); tip: qsTr("Change the script, record it again, compare"); onClicked: Tools.editor.edit() }
                UButton { objectName: "llvmOpen"; visible: Session.tab === "ir" && pane.model === Session.code; quiet: false; text: qsTr("LLVM's passes"); tip: qsTr("What LLVM makes of it, pass by pass"); onClicked: Tools.llvm.open = true }
                UButton { objectName: "warpOpen"; visible: Session.tab === "uops" && pane.model === Session.code && Session.scopeKind === "kernel"; quiet: false; text: qsTr("Threads of a warp"); tip: qsTr("Walks through a GPU kernel in the interpreter: the threads of a warp, their values and the bytes they access"); onClicked: Tools.warp.open = true }
                UButton { icon16: "search"; tip: qsTr("Find (/)"); on: pane.searching; onClicked: pane.searching ? pane.endSearch() : pane.search() }
                UButton { icon16: "copy"; tip: qsTr("Copy all"); onClicked: pane.copy(1, -1) }
            }
            Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
        }
        ListView {
            id: list
            objectName: "codeList"
            activeFocusOnTab: true
            Accessible.role: Accessible.List
            Accessible.name: pane.what || qsTr("Text")
            Accessible.focusable: true
            Rectangle { parent: list; visible: list.activeFocus; anchors.fill: parent; z: 3; color: "transparent"; border.width: 1; border.color: Theme.accent }
            Layout.fillWidth: true
            Layout.fillHeight: true
            clip: true
            model: pane.model
            reuseItems: true
            boundsBehavior: Flickable.StopAtBounds
            flickableDirection: Flickable.HorizontalAndVerticalFlick
            contentWidth: Math.max(width, gutter + (pane.model.widest + 8) * metrics.advanceWidth)
            readonly property real numbers: Theme.px(26) + metrics.advanceWidth * String(pane.model.lineCount).length
            readonly property real gutter: numbers + (pane.model.registersMost > 0 ? Theme.px(78) : 0)
            topMargin: Theme.px(8)
            bottomMargin: Theme.px(8)
            ScrollBar.vertical: UScrollBar {}
            ScrollBar.horizontal: UScrollBar {}
            Keys.onPressed: event => {
                if (event.matches(StandardKey.Copy) && pane.first > 0) { pane.copy(Math.min(pane.first, pane.last), Math.max(pane.first, pane.last)); event.accepted = true; }
            }
            TextMetrics { id: metrics; font.family: Theme.mono; font.pixelSize: Theme.px(12.5); text: "0" }
            delegate: Rectangle {
                id: line
                required property int index
                required property int number
                required property string html
                required property string note
                required property var noteScope
                required property int alive
                readonly property bool chosen: pane.first > 0 && number >= Math.min(pane.first, pane.last) && number <= Math.max(pane.first, pane.last)
                readonly property bool linked: number === pane.model.currentLine
                readonly property bool ofSelection: pane.lit !== null && pane.lit.litCount > 0 && Session.node >= 0 && pane.lit.lit(number - 1)
                width: Math.max(list.contentWidth, list.width)
                height: Theme.px(19)
                readonly property bool fault: number === pane.model.faultLine
                color: chosen ? Theme.selection : linked || ofSelection ? Theme.hover : "transparent"
                Rectangle { objectName: "selectionMark"; visible: line.ofSelection; width: Theme.px(3); height: parent.height; color: Theme.accent }
                Rectangle { objectName: "faultMark"; visible: line.fault; anchors.fill: parent; color: Theme.error; opacity: 0.16 }
                Rectangle { visible: line.fault; width: Theme.px(3); height: parent.height; color: Theme.error; z: 1 }
                Rectangle { visible: line.linked; width: Theme.px(3); height: parent.height; color: Theme.accent }
                UArea {
                    anchors.fill: parent
                    stop: false
                    name: line.number + " " + pane.model.plainText(line.number, line.number) + (line.fault ? pane.model.faultText : "")
                    Accessible.role: Accessible.ListItem
                    onClicked: mouse => {
                        list.forceActiveFocus();
                        if (mouse && mouse.modifiers & Qt.ShiftModifier && pane.first > 0) pane.last = line.number;
                        else pane.first = pane.last = line.number;
                    }
                }
                ULabel {
                    width: list.numbers - Theme.px(12)
                    height: parent.height
                    text: line.number
                    mono: true
                    horizontalAlignment: Text.AlignRight
                    color: line.linked ? Theme.accent : Theme.textFaint
                    font.pixelSize: Theme.px(11.5)
                }
                Text {
                    id: code
                    x: list.gutter + Theme.px(6)
                    height: parent.height
                    text: Theme.rich(line.html, Theme.dark)
                    textFormat: Text.StyledText
                    font.family: Theme.mono
                    font.pixelSize: Theme.px(12.5)
                    color: Theme.text
                    verticalAlignment: Text.AlignVCenter
                }
                ULabel {
                    objectName: "faultText"
                    visible: line.fault
                    text: "✗ " + pane.model.faultText
                    color: Theme.error
                    font.pixelSize: Theme.small
                    x: code.x + code.implicitWidth + Theme.px(18) + (line.note.length > 0 ? lineNote.width + Theme.px(10) : 0)
                    width: Math.max(Theme.px(80), list.width - x - Theme.px(20))
                    height: parent.height
                }
                RegisterBar {
                    visible: pane.model.registersMost > 0
                    x: list.numbers
                    height: parent.height
                    model: pane.model
                    number: line.number
                    alive: line.alive
                }
                UChip {
                    id: lineNote
                    visible: line.note.length > 0
                    text: line.note
                    sign: "→"
                    tone: Theme.accent
                    link: true
                    height: Theme.px(17)
                    x: code.x + code.implicitWidth + Theme.px(18)
                    anchors.verticalCenter: parent.verticalCenter
                    onClicked: { Session.goToScope(line.noteScope); Session.tab = "graph"; }
                }
            }
        }
    }
    Column {
        visible: pane.model.missing.length > 0
        anchors.centerIn: parent
        width: Math.min(parent.width - Theme.px(60), Theme.px(460))
        spacing: Theme.px(12)
        Icon { name: "script"; width: Theme.px(36); height: width; color: Theme.lineStrong; anchors.horizontalCenter: parent.horizontalCenter }
        ULabel { width: parent.width; text: pane.model.missing; wrapMode: Text.Wrap; horizontalAlignment: Text.AlignHCenter; color: Theme.textMuted }
    }
}
