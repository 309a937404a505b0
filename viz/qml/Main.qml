// The window: panes, pages, popups, and the keys of the action table.
import QtQuick
import QtQuick.Window
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

ApplicationWindow {
    id: window
    width: 1440
    height: 900
    minimumWidth: 720
    minimumHeight: 480
    visible: true
    title: shownName.length > 0 ? shownName + " — uopscope" : "uopscope"
    readonly property string shownName: Tools.experiment.shown ? Tools.experiment.fileName : Session.fileName
    color: Theme.window
    property alias canvas: graph.canvas
    readonly property bool ready: Session.state === "ready"
    readonly property bool covered: Tools.replay.shown || Tools.experiment.shown ///< by a page of its own
    readonly property TextInput line: activeFocusItem as TextInput
    readonly property TextEdit area: activeFocusItem as TextEdit
    readonly property bool typing: (line !== null && !line.readOnly) || (area !== null && !area.readOnly)
    readonly property bool popped: palette.visible || keys.visible || linkPopup.visible || filePopup.visible

    function openFile() {
        chooseFile(path => openAll([path]));
    }
    // Two files are compared. A single file is opened, or becomes the second one of a comparison.
    function openAll(paths) {
        if (paths.length > 1 && paths.every(path => path.endsWith(".uopbench"))) Tools.experiment.openFiles(paths);
        else if (paths.length > 1 || (Tools.replay.shown && Tools.replay.state === "choosing")) Tools.replay.openFiles(paths);
        else Session.open(paths[0]);
    }
    function chooseFile(then) { filePopup.load(["py", "uoptrace", "uopcorpus", "uopbench", "dot", "gv"], then); }
    function chooseRules() { filePopup.load(["py"], path => Tools.rule.open(path)); }
    // Keys belong to the page in front: never to a field that nobody sees any longer.
    function restFocus() {
        if (Session.tab === "graph" && ready) canvas.forceActiveFocus();
        else panes.forceActiveFocus();
    }
    readonly property string tab: Session.tab
    onTabChanged: Qt.callLater(window.followTab)
    function followTab() {
        if (window.popped) return;
        if (tab === "sql" && ready) sqlPane.focusText();
        else if (activeFocusItem && !activeFocusItem.visible) restFocus();
    }
    // What is shown, as a file: the endings the pane in front offers, and who writes it.
    readonly property var pictures: ["svg", "png"]
    readonly property var tables: ["csv", "json"]
    function exporter() {
        if (experimentPage.item) return (experimentPage.item as ExperimentPage).exporter(window);
        const texts = { source: ["c", "cl", "cu", "metal", "wgsl", "txt"], ir: ["ll"], asm: ["s"], uops: ["txt"], script: ["py"] };
        switch (Session.tab) {
        case "graph": return { kinds: pictures, to: path => canvas.exportTo(path) };
        case "stats": return { kinds: tables, to: path => Session.stats.exportTo(path) };
        case "sql": return { kinds: tables, to: path => Tools.sql.exportTo(path) };
        case "profile": return profile.exporter(window);
        case "timeline": return timeline.exporter(window);
        case "compare": return compare.exporter(window);
        case "whatif": return whatIf.exporter(window);
        case "values": return values.exporter(window);
        case "story": return story.exporter();
        case "links": return asSeen(links);
        default: return { kinds: texts[Session.tab], to: path => currentText().model.exportTo(path) };
        }
    }
    // A pane that is neither a picture nor a table is exported as an image of the screen.
    function asSeen(item) {
        return { kinds: ["png"], to: path => {
            if (!path.endsWith(".png")) return qsTr("%1: the name must end in .png").arg(path);
            const asked = item.grabToImage(image => window.told(path, image.saveToFile(path) ? "" : qsTr("%1 cannot be written: check that its folder exists").arg(path)));
            return asked ? undefined : qsTr("There is nothing to export.");
        } };
    }
    function told(path, problem) { Session.showNotice(problem.length > 0 ? problem : qsTr("Written: %1").arg(path)); }
    function exportTo(path) {
        const problem = exporter().to(path);
        if (problem !== undefined) told(path, problem); // an image of the screen is reported later
    }
    function askExport() {
        const to = exporter();
        filePopup.save(to.kinds, to.name || Session.suggestedName(to.kinds[0]), path => exportTo(path));
    }
    /// The graph that one looks at.
    function front() { return Session.tab === "compare" && Tools.compare.what === "graph" ? compare.canvas : canvas; }
    function currentText() { return Session.tab === "script" ? scriptPane : codePane; }
    function act(id) {
        switch (id) {
        case "open": openFile(); break;
        case "jump": palette.ask(""); break;
        case "commands": palette.ask(">"); break;
        case "keys": keys.visible ? keys.close() : keys.open(); break;
        case "follow-link": linkPopup.ask(); break;
        case "copy-link": clipboard.text = Session.tab === "whatif" && Tools.whatIf.link.length > 0 ? Tools.whatIf.link : Session.link; clipboard.selectAll(); clipboard.copy(); Session.showNotice(qsTr("Link copied: %1").arg(clipboard.text)); break;
        case "theme": Theme.name = Theme.dark ? "light" : "dark"; break;
        case "contrast": Theme.name = Theme.name.indexOf("contrast") === 0 ? (Theme.dark ? "dark" : "light") : Theme.dark ? "contrast" : "contrast-light"; break;
        case "present": Theme.presenting = !Theme.presenting; break;
        case "condition": condition.ask(); break;
        case "export": askExport(); break;
        case "output": output.visible = !output.visible && Session.hasOutput; if (!Session.hasOutput) Session.showNotice(qsTr("The script printed nothing.")); break;
        case "larger": Theme.textScale += 0.1; break;
        case "smaller": Theme.textScale -= 0.1; break;
        case "normal": Theme.textScale = 1; break;
        case "full-screen": window.visibility = window.visibility === Window.FullScreen ? Window.AutomaticVisibility : Window.FullScreen; break;
        case "toggle-left": left.shown = !left.shown; break;
        case "toggle-right": right.shown = !right.shown; break;
        case "filter": left.shown = true; tree.focusFilter(); break;
        case "search":
            if (Session.tab === "stats") stats.search();
            else if (Session.tab === "graph") graph.search();
            else currentText().search();
            break;
        case "search-next": Session.tab === "graph" ? Session.graph.nextFound(1) : currentText().find(1); break;
        case "search-previous": Session.tab === "graph" ? Session.graph.nextFound(-1) : currentText().find(-1); break;
        case "fit": front().fit(); break;
        case "focus": Session.node >= 0 ? canvas.focusNode(Session.node) : canvas.showChange(); break;
        case "show-change": canvas.showChange(); break;
        case "zoom-in": front().zoomBy(1.25); break;
        case "zoom-out": front().zoomBy(0.8); break;
        case "zoom-reset": front().resetZoom(); break;
        case "follow": canvas.follow = !canvas.follow; break;
        case "map": graph.showMap = !graph.showMap; break;
        case "legend": graph.showLegend = !graph.showLegend; break;
        case "escape":
            if (graph.searching && Session.tab === "graph") graph.endSearch();
            else if (currentText().searching) currentText().endSearch();
            else if (Tools.hand.open && Session.tab === "whatif") Tools.hand.close();
            else if (Tools.why.open) Tools.why.open = false;
            else if (Session.graph.notesShown) Session.graph.clearNotes();
            else if (output.visible) output.visible = false;
            else if (Theme.presenting) Theme.presenting = false;
            else if (Session.node >= 0) Session.node = -1;
            else canvas.forceActiveFocus();
            break;
        case "quit": Qt.quit(); break;
        }
    }
    Connections {
        target: Session
        function onUiAction(id) { window.act(id); }
        function onFocusAsked(node) { canvas.focusNode(node); }
    }
    // The window opens at its last place and size. A place on a missing screen is forgotten.
    Component.onCompleted: {
        const place = JSON.parse(Session.preferences.stored("window/place") || "{}");
        if (place.width > 0 && place.height > 0) {
            width = Math.max(minimumWidth, place.width);
            height = Math.max(minimumHeight, place.height);
            if (Array.from(Qt.application.screens).some(s => place.x + 80 >= s.virtualX && place.x + 80 < s.virtualX + s.width && place.y >= s.virtualY && place.y + 40 < s.virtualY + s.height)) {
                x = place.x;
                y = place.y;
            }
            if (place.maximized) visibility = Window.Maximized;
        }
        for (const [name, split] of splits()) {
            const layout = Session.preferences.stored("window/" + name);
            if (layout) split.restore(layout);
        }
        left.shown = Session.preferences.stored("window/left") !== "false";
        right.shown = Session.preferences.stored("window/right") !== "false";
    }
    function splits() { return [["panes", panes], ["side", left]]; }
    onClosing: {
        const old = JSON.parse(Session.preferences.stored("window/place") || "{}"), now = visibility === Window.Windowed ? window : old;
        Session.preferences.store("window/place", JSON.stringify({ x: now.x, y: now.y, width: now.width, height: now.height, maximized: visibility === Window.Maximized }));
        for (const [name, split] of splits()) Session.preferences.store("window/" + name, split.saveState());
        Session.preferences.store("window/left", String(left.shown));
        Session.preferences.store("window/right", String(right.shown));
    }
    TextEdit { id: clipboard; visible: false }
    Instantiator {
        model: Session.preferences.actions
        delegate: QtObject {
            id: keysOf
            required property var modelData
            // Plain letters belong to the field with the focus; popups have keys of their own.
            function plain(k) { return k.indexOf("Ctrl") < 0 && k.indexOf("Alt") < 0 && !/(^|\+)F[0-9]+$/.test(k) && k !== "Esc"; }
            readonly property bool free: !window.popped && (modelData.id !== "escape" || !window.typing)
            readonly property Shortcut letters: Shortcut {
                sequences: keysOf.modelData.keys.filter(k => keysOf.plain(k))
                enabled: keysOf.free && !window.typing
                onActivated: Session.trigger(keysOf.modelData.id)
            }
            readonly property Shortcut others: Shortcut {
                sequences: keysOf.modelData.keys.filter(k => !keysOf.plain(k))
                enabled: keysOf.free
                onActivated: Session.trigger(keysOf.modelData.id)
            }
        }
    }
    DropArea {
        anchors.fill: parent
        onDropped: drop => { if (drop.hasUrls) window.openAll(drop.urls.map(u => decodeURIComponent(u.toString()))); }
    }

    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        TopBar { Layout.fillWidth: true }
        Rectangle {
            visible: window.ready && (Session.warning.length > 0 || (Session.recorder.problem.length > 0 && !Session.recorder.running))
            Layout.fillWidth: true
            implicitHeight: banner.implicitHeight + Theme.px(14)
            color: Theme.raised
            RowLayout {
                id: banner
                x: Theme.px(14)
                y: Theme.px(7)
                width: parent.width - Theme.px(24)
                spacing: Theme.px(10)
                Icon { name: "warning"; implicitWidth: Theme.px(16); implicitHeight: implicitWidth; color: Theme.warning }
                ULabel { objectName: "bannerText"; text: Session.failure.text || Session.warning || Session.recorder.problem; wrapMode: Text.Wrap; elide: Text.ElideNone; Layout.fillWidth: true; color: Theme.text }
                UButton { objectName: "bannerLine"; visible: (Session.failure.line || 0) > 0; text: qsTr("Line %1").arg(Session.failure.line || 0); tip: qsTr("Where the script failed"); quiet: false; onClicked: { Session.scriptCode.currentLine = Session.failure.line; Session.tab = "script"; } }
                UButton { objectName: "bannerLast"; visible: Session.failure.text !== undefined && Session.pass > 0; text: qsTr("Last pass"); tip: qsTr("Where the compiler was when the script failed"); quiet: false; onClicked: { Session.showLatest(); Session.tab = "graph"; } }
                UButton { objectName: "bannerOutput"; visible: Session.hasOutput; text: qsTr("Output"); tip: qsTr("What the script printed (Ctrl U)"); quiet: false; onClicked: window.act("output") }
            }
            Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
        }
        Rectangle {
            id: output
            objectName: "output"
            visible: false
            Layout.fillWidth: true
            implicitHeight: Theme.px(180)
            color: Theme.window
            UTextScroll {
                anchors.fill: parent
                anchors.margins: Theme.px(10)
                TextArea { objectName: "outputText"; readOnly: true; Accessible.name: qsTr("What the script printed"); text: !output.visible ? "" : Session.recorder.running ? Session.recorder.output : Session.outputText(); color: Theme.text; font.family: Theme.mono; font.pixelSize: Theme.px(12); background: null; selectByMouse: true }
            }
            Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
        }
        Item {
            Layout.fillWidth: true
            Layout.fillHeight: true
            USplit {
                id: panes
                anchors.fill: parent
                visible: window.ready && !window.covered
                USplit {
                    id: left
                    objectName: "leftPane"
                    property bool shown: true
                    visible: shown && !Theme.presenting
                    orientation: Qt.Vertical
                    SplitView.preferredWidth: Math.min(Theme.px(290), window.width * 0.23)
                    SplitView.minimumWidth: Math.min(Theme.px(180), window.width * 0.2)
                    TreePane { id: tree; onFilterLeft: canvas.forceActiveFocus(); SplitView.fillHeight: true; SplitView.minimumHeight: Theme.px(120) }
                    StepsPane { onNoted: window.restFocus(); SplitView.preferredHeight: window.height * 0.32; SplitView.minimumHeight: Theme.px(80) }
                }
                Item {
                    SplitView.fillWidth: true
                    SplitView.minimumWidth: Math.min(Theme.px(320), window.width * 0.4)
                    TabsBar { id: tabs; width: parent.width }
                    Item {
                        anchors.fill: parent
                        anchors.topMargin: tabs.height
                        clip: true
                        GraphPane { id: graph; anchors.fill: parent; anchors.bottomMargin: why.visible ? why.height : 0; visible: Session.tab === "graph" }
                        WhyPane { id: why; visible: Tools.why.open && Session.tab === "graph"; width: parent.width; height: Math.min(implicitHeight, parent.height * 0.45); anchors.bottom: parent.bottom }
                        ProfilePane { id: profile; anchors.fill: parent; visible: Session.tab === "profile"; onCompareAsked: window.chooseFile(path => Tools.profile.compareWith(path)) }
                        ComparePane { id: compare; anchors.fill: parent; visible: Session.tab === "compare"; onTraceAsked: window.chooseFile(path => Tools.compare.openLeft(path)) }
                        WhatIfPane { id: whatIf; anchors.fill: parent; visible: Session.tab === "whatif" }
                        ValuesPane { id: values; anchors.fill: parent; visible: Session.tab === "values" }
                        RulePane { anchors.fill: parent; visible: Session.tab === "rule"; onOpenAsked: window.chooseRules(); onSaveAsked: filePopup.save(["py"], "rules.py", path => window.told(path, Tools.rule.save(path))) }
                        StoryPane { id: story; anchors.fill: parent; visible: Session.tab === "story" }
                        TimelinePane { id: timeline; anchors.fill: parent; visible: Session.tab === "timeline" }
                        LinksPane { id: links; anchors.fill: parent; visible: Session.tab === "links" }
                        SqlPane { id: sqlPane; anchors.fill: parent; visible: Session.tab === "sql"; onExportAsked: window.askExport() }
                        CodePane {
                            id: codePane
                            anchors.fill: parent
                            visible: ["source", "asm"].indexOf(Session.tab) >= 0 || Session.tab === "ir" && !Tools.llvm.open || Session.tab === "uops" && !Tools.warp.open
                            model: Session.code
                            lit: Session.tab === "source" ? Tools.linked.source : Session.tab === "asm" ? Tools.linked.assembly : Session.tab === "uops" ? Tools.linked.uops : null
                            what: Session.scopeName
                        }
                        WarpPane { anchors.fill: parent; visible: Session.tab === "uops" && Tools.warp.open }
                        LlvmPane { anchors.fill: parent; visible: Session.tab === "ir" && Tools.llvm.open }
                        StatsPane { id: stats; anchors.fill: parent; visible: Session.tab === "stats" }
                        ScriptEditPane { anchors.fill: parent; visible: Session.tab === "script" && Tools.editor.editing; onCompareAsked: before => { Tools.compare.openLeft(before); Session.tab = "compare"; } }
                        CodePane { id: scriptPane; anchors.fill: parent; visible: Session.tab === "script" && !Tools.editor.editing; model: Session.scriptCode; what: Session.scriptCode.title }
                    }
                }
                DetailPane {
                    id: right
                    objectName: "rightPane"
                    property bool shown: true
                    visible: shown && ["links", "rule", "story", "stats", "profile", "timeline", "sql"].indexOf(Session.tab) < 0 && !(Session.tab === "script" && Tools.editor.editing) && !(window.width < Theme.px(1100) && (["whatif", "values", "compare"].indexOf(Session.tab) >= 0 || Session.tab === "uops" && Tools.warp.open))
                    SplitView.preferredWidth: Math.min(Theme.px(330), window.width * 0.25)
                    SplitView.minimumWidth: Math.min(Theme.px(220), window.width * 0.3)
                }
            }
            Loader { anchors.fill: parent; visible: !window.covered; active: Session.state === "empty"; sourceComponent: Welcome { onOpenAsked: window.openFile() } }
            Loader { anchors.fill: parent; active: Session.state === "opening"; sourceComponent: OpeningPage {} }
            Loader { anchors.fill: parent; active: Session.state === "recording"; sourceComponent: RecordingPage {} }
            Loader { anchors.fill: parent; visible: !window.covered; active: Session.state === "error"; sourceComponent: ErrorPage { onOpenAsked: window.openFile() } }
            Loader { anchors.fill: parent; active: Tools.replay.shown; sourceComponent: ReplayPage { onFileAsked: then => window.chooseFile(then) } }
            Loader { id: experimentPage; anchors.fill: parent; active: Tools.experiment.shown; sourceComponent: ExperimentPage { onFileAsked: then => filePopup.load(["uopbench"], then) } }
            Notice { anchors.bottom: parent.bottom; anchors.bottomMargin: Theme.px(24) }
        }
        TalkBar { Layout.fillWidth: true }
        BisectBar { Layout.fillWidth: true }
        LiveBar { Layout.fillWidth: true }
        ConditionBar { id: condition; visible: false; Layout.fillWidth: true }
        StepBar { visible: window.ready && !Tools.replay.shown && !Tools.experiment.shown; Layout.fillWidth: true }
    }
    PalettePopup { id: palette }
    KeysSheet { id: keys }
    LinkPopup { id: linkPopup }
    FilePopup { id: filePopup }
    // A press outside the field ends typing; the pressed item may then take the keyboard. What a field offers while somebody
    // types (its typingHelp) belongs to the field: it would be gone before it is clicked.
    MouseArea {
        anchors.fill: parent
        z: 1000
        enabled: window.typing
        Accessible.ignored: true
        acceptedButtons: Qt.AllButtons
        onPressed: mouse => {
            mouse.accepted = false;
            const field = window.activeFocusItem, at = field.mapFromItem(this, mouse.x, mouse.y);
            const help = field["typingHelp"] as Item, there = help && help.visible ? help.mapFromItem(this, mouse.x, mouse.y) : null;
            if (!field.contains(Qt.point(at.x, at.y)) && !(there && help.contains(Qt.point(there.x, there.y)))) window.restFocus();
        }
    }
}
