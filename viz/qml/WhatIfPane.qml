// What if: the kernel in front compiled again with something changed, a row per variant, and the code of the chosen
// one beside the code as it is.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    objectName: "whatIfPane"
    color: Theme.canvas
    readonly property bool narrow: width < Theme.px(1000) // names of variants need the room
    readonly property bool tight: width < Theme.px(560)
    readonly property bool kernel: Session.scopeKind === "kernel"
    function exporter(window) { return { kinds: window.tables, to: path => Tools.whatIf.exportTo(path) }; }
    function take(text) { Tools.whatIf.add(text); field.clear(); }
    property bool cloud: true
    readonly property bool clouded: cloud && Tools.candidates.count > 0 && !Tools.hand.open
    function prepare() { if (visible) { Tools.whatIf.prepare(); Tools.candidates.load(); } }
    onVisibleChanged: prepare()
    Connections { target: Session; function onPlaceChanged() { pane.prepare(); } }

    component Cell: ULabel {
        property real wide: Theme.px(76)
        property bool room: true
        visible: room
        Layout.preferredWidth: wide
        horizontalAlignment: Text.AlignRight
        font.pixelSize: Theme.small
        mono: true
    }
    // The name of a column: a click sorts by it, a second one turns the order round.
    component Sort: Item {
        id: heading
        property string column: ""
        property string text: ""
        property string tip: ""
        property bool leftward: false
        property real wide: Theme.px(76)
        readonly property bool taken: Tools.whatIf.sort === column
        objectName: "whatIfSort-" + column
        Layout.preferredWidth: wide
        implicitHeight: Theme.px(22)
        ULabel { anchors.fill: parent; horizontalAlignment: heading.leftward ? Text.AlignLeft : Text.AlignRight; text: heading.text + (heading.taken ? (Tools.whatIf.descending ? " ↓" : " ↑") : ""); color: heading.taken || area.containsMouse ? Theme.text : Theme.textMuted; font.pixelSize: Theme.small }
        UArea { id: area; anchors.fill: parent; name: qsTr("Sort by %1").arg(heading.text); onClicked: Tools.whatIf.sortBy(heading.column) }
        UTip { visible: area.containsMouse && heading.tip.length > 0; text: heading.tip }
    }
    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        Rectangle {
            visible: !Tools.hand.open // which has buttons of its own
            Layout.fillWidth: true
            implicitHeight: tools.implicitHeight + Theme.px(16)
            color: Theme.panel
            Flow {
                id: tools
                x: Theme.px(10)
                y: Theme.px(8)
                width: parent.width - Theme.px(20)
                spacing: Theme.px(8)
                UField {
                    id: field
                    objectName: "whatIfField"
                    property Item typingHelp: offered
                    enabled: pane.kernel
                    icon16: ""
                    hint: qsTr("A rule, or Opts: UPCAST 0 4; UNROLL 0 8")
                    width: Math.min(Theme.px(360), tools.width)
                    Keys.onReturnPressed: pane.take(text)
                    Keys.onEnterPressed: pane.take(text)
                    Keys.onEscapePressed: clear()
                }
                UButton { objectName: "whatIfAdd"; enabled: pane.kernel && field.text.trim().length > 0; quiet: false; text: qsTr("Compile"); tip: qsTr("Adds this variant (Return)"); onClicked: pane.take(field.text) }
                UButton { objectName: "whatIfStep"; enabled: pane.kernel && Session.step > 0; quiet: false; text: qsTr("Without this step"); tip: qsTr("The rewrite in front is not made (Shift W)"); onClicked: Tools.whatIf.withoutStep() }
                UButton { objectName: "whatIfRule"; visible: pane.kernel && Session.stepInfo.rule !== undefined; quiet: false; text: qsTr("Without %1").arg(Session.stepInfo.rule || ""); tip: qsTr("The rule of the step in front applies nowhere in the kernel"); onClicked: Tools.whatIf.withoutRule(Session.stepInfo.rule) }
                UButton { objectName: "whatIfHand"; enabled: pane.kernel && Session.pass > 0; quiet: false; text: qsTr("By hand from here"); tip: qsTr("All rules that match in the graph in front: apply one, then another, and let the compiler go on (Shift H)"); onClicked: Tools.hand.begin() }
                UButton { objectName: "whatIfNone"; enabled: pane.kernel; quiet: false; text: qsTr("No Opts"); tip: qsTr("The kernel without any optimisation of its loops"); onClicked: Tools.whatIf.opts("none") }
                UButton { objectName: "whatIfOpts"; enabled: pane.kernel && Tools.whatIf.chosenOpts.length > 0; quiet: false; text: qsTr("Edit its Opts"); tip: qsTr("Puts the Opts of the chosen row into the field"); onClicked: { field.text = Tools.whatIf.chosenOpts; field.forceActiveFocus(); } }
                UButton { objectName: "whatIfSlow"; enabled: pane.kernel && !Tools.bisect.busy; quiet: false; text: qsTr("Which rewrite makes it slow?"); tip: qsTr("Compiles and times it with fewer and fewer rewrites"); onClicked: Tools.bisect.ofKernel("slow") }
                UButton { objectName: "whatIfWrong"; enabled: pane.kernel && !Tools.bisect.busy; quiet: false; text: qsTr("… wrong?"); tip: qsTr("Compares its results with those of the reference interpreter, with fewer and fewer rewrites"); onClicked: Tools.bisect.ofKernel("wrong") }
                UButton { objectName: "whatIfCandidates"; visible: Tools.candidates.count > 0; on: pane.cloud; quiet: false; text: qsTr("%1 candidates").arg(Tools.candidates.count); tip: qsTr("What BEAM tried: price against measured time"); onClicked: pane.cloud = !pane.cloud }
                UButton { objectName: "whatIfCancel"; visible: Tools.whatIf.busy; quiet: false; icon16: "close"; text: qsTr("Cancel"); onClicked: Tools.whatIf.cancel() }
                Flow {
                    id: offered
                    visible: offers.count > 0
                    width: tools.width
                    spacing: Theme.px(8)
                    Repeater {
                        id: offers
                        model: pane.kernel && field.activeFocus && !/^[A-Z]/.test(field.text) ? Tools.whatIf.rules.filter(r => r.indexOf(field.text.trim()) >= 0).slice(0, pane.narrow ? 4 : 8) : []
                        UChip { required property string modelData; required property int index; objectName: "whatIfOffer" + index; height: Theme.px(28); text: modelData; link: true; onClicked: pane.take(modelData) }
                    }
                }
            }
            Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
        }
        ULabel {
            objectName: "whatIfProblem"
            visible: text.length > 0
            Layout.fillWidth: true
            Layout.margins: Theme.px(14)
            wrapMode: Text.Wrap
            color: Theme.error
            text: Tools.hand.problem.length > 0 ? Tools.hand.problem : Tools.whatIf.problem
        }
        RowLayout {
            visible: Tools.whatIf.count > 0
            Layout.fillWidth: true
            Layout.leftMargin: Theme.px(14)
            Layout.rightMargin: Theme.px(14)
            Layout.topMargin: Theme.px(8)
            spacing: Theme.px(8)
            Sort { column: "name"; leftward: true; text: Session.scopeName; Layout.fillWidth: true; Layout.minimumWidth: Theme.px(110) }
            Sort { visible: !pane.narrow; column: "rewrites"; text: qsTr("rewrites") }
            Sort { column: "instructions"; text: qsTr("instructions"); wide: Theme.px(100) }
            Sort { visible: !pane.narrow; column: "registers"; text: qsTr("registers"); tip: qsTr("Vector registers that the code uses") }
            Sort { visible: !pane.narrow; column: "spills"; text: qsTr("spills"); tip: qsTr("Moves between vector registers and the stack") }
            Sort { column: "time"; text: qsTr("time") }
            Sort { column: "ratio"; text: qsTr("compared"); wide: Theme.px(pane.tight ? 100 : 128) }
            Sort { visible: !pane.tight; column: "verdict"; text: qsTr("result"); wide: Theme.px(122) }
            Item { implicitWidth: Theme.px(24) }
        }
        UList {
            id: list
            objectName: "whatIfList"
            name: qsTr("Variants of the kernel")
            visible: Tools.whatIf.count > 0
            Layout.fillWidth: true
            Layout.preferredHeight: Math.min(contentHeight, pane.height * 0.4)
            model: Tools.whatIf
            start: Tools.whatIf.current
            onTaken: index => Tools.whatIf.current = index
            delegate: URow {
                id: row
                required property int index
                required property string name
                required property string rewrites
                required property string instructions
                required property string registers
                required property string spills
                required property string time
                required property string ratio
                required property string verdict
                required property string tone
                required property bool base
                readonly property color ink: tone === "bad" ? Theme.error : tone === "better" ? Theme.added : tone === "worse" ? Theme.removed : Theme.textMuted
                owner: list
                at: index
                label: name + ", " + instructions + " " + qsTr("instructions") + ", " + time + " " + ratio + ", " + verdict
                chosen: index === Tools.whatIf.current
                width: list.width
                height: Theme.row
                RowLayout {
                    anchors.fill: parent
                    anchors.leftMargin: Theme.px(14)
                    anchors.rightMargin: Theme.px(14)
                    spacing: Theme.px(8)
                    ULabel { text: row.name; font.weight: row.base ? Font.DemiBold : Font.Normal; Layout.fillWidth: true; Layout.minimumWidth: Theme.px(110) }
                    Cell { room: !pane.narrow; text: row.rewrites }
                    Cell { text: row.instructions; wide: Theme.px(100) }
                    Cell { room: !pane.narrow; text: row.registers }
                    Cell { room: !pane.narrow; text: row.spills }
                    Cell { text: row.time }
                    // Without room for both, a failure or the work in progress comes before the ratio.
                    Cell { text: pane.tight && (row.ratio.length === 0 || row.tone === "bad") ? row.verdict : row.ratio; wide: Theme.px(pane.tight ? 100 : 128); color: row.ink }
                    Cell { room: !pane.tight; text: row.verdict; wide: Theme.px(122); color: row.tone === "bad" ? Theme.error : Theme.textMuted; mono: false }
                    UButton { objectName: "whatIfRemove" + row.index; opacity: row.base ? 0 : 1; enabled: !row.base; icon16: "close"; tip: qsTr("Remove this variant, and its name where it has one"); Layout.preferredWidth: Theme.px(24); onClicked: Tools.whatIf.remove(row.index) }
                }
            }
        }
        Rectangle { visible: list.visible; Layout.fillWidth: true; implicitHeight: 1; color: Theme.line }
        RowLayout {
            visible: (Tools.whatIf.sentence.length > 0 || Tools.whatIf.current > 0) && !Tools.hand.open
            Layout.fillWidth: true
            Layout.margins: Theme.px(10)
            Layout.leftMargin: Theme.px(14)
            spacing: Theme.px(8)
            ULabel { objectName: "whatIfSentence"; text: Tools.whatIf.sentence; wrapMode: Text.Wrap; maximumLineCount: 4; elide: Text.ElideRight; color: Theme.text; Layout.fillWidth: true }
            UField {
                id: nameField
                objectName: "whatIfName"
                visible: Tools.whatIf.current > 0
                icon16: ""
                clearable: false
                hint: qsTr("A name keeps it")
                Layout.preferredWidth: Theme.px(150)
                text: Tools.whatIf.keptName
                Connections { target: Tools.whatIf; function onChanged() { if (!nameField.activeFocus) nameField.text = Tools.whatIf.keptName; } }
                Keys.onReturnPressed: { Tools.whatIf.keep(text); text = Tools.whatIf.keptName; }
                Keys.onEnterPressed: { Tools.whatIf.keep(text); text = Tools.whatIf.keptName; }
                Keys.onEscapePressed: { text = Tools.whatIf.keptName; list.forceActiveFocus(); }
            }
            UButton { objectName: "whatIfKeep"; visible: nameField.visible && nameField.text.trim() !== Tools.whatIf.keptName; quiet: false; text: nameField.text.trim().length === 0 ? qsTr("Keep no longer") : Tools.whatIf.keptName.length > 0 ? qsTr("Rename") : qsTr("Keep"); tip: qsTr("Beside the trace, to be opened again and linked to (Return)"); onClicked: { Tools.whatIf.keep(nameField.text); nameField.text = Tools.whatIf.keptName; } }
            UButton { objectName: "whatIfLink"; visible: Tools.whatIf.link.length > 0; icon16: "copy"; tip: qsTr("Copy a link to this variant (Ctrl L)"); onClicked: Session.trigger("copy-link") }
            UButton { objectName: "whatIfParting"; visible: Tools.whatIf.partingPass.length > 0; quiet: false; text: qsTr("Show the pass"); tip: qsTr("The pass in which it parts from the kernel as it is"); onClicked: Tools.whatIf.goToParting() }
            UButton { objectName: "whatIfBoth"; visible: Tools.whatIf.sentence.length > 0 && Tools.whatIf.current > 0 && !Tools.whatIf.busy && Tools.whatIf.both().length > 0; quiet: false; text: qsTr("Step through both"); tip: qsTr("Side by side, from the first step that differs"); onClicked: Tools.replay.openFiles(Tools.whatIf.both()) }
            UChip { visible: Tools.whatIf.lines.hidden > 0; text: Tools.whatIf.lines.hidden === 1 ? qsTr("1 equal line left out") : qsTr("%1 equal lines left out").arg(Tools.whatIf.lines.hidden); link: true; onClicked: Tools.whatIf.lines.onlyChanges = false }
        }
        HandPane { visible: Tools.hand.open; Layout.fillWidth: true; Layout.fillHeight: true }
        CandidatesPane { visible: pane.clouded; Layout.fillWidth: true; Layout.fillHeight: true; Layout.minimumHeight: Theme.px(140) }
        Rectangle { visible: pane.clouded && Tools.whatIf.count > 0; Layout.fillWidth: true; implicitHeight: 1; color: Theme.line }
        TextCompare {
            id: texts
            objectName: "whatIfText"
            visible: !Tools.hand.open && (!pane.clouded || Tools.whatIf.count > 0)
            Layout.fillWidth: true
            Layout.fillHeight: true
            model: Tools.whatIf.lines
            Flickable {
                parent: texts
                visible: texts.count === 0 && !Tools.whatIf.busy && Tools.whatIf.sentence.length === 0
                anchors.fill: parent
                contentHeight: Math.max(height, hint.implicitHeight + Theme.px(16))
                interactive: contentHeight > height
                boundsBehavior: Flickable.StopAtBounds
                ScrollBar.vertical: UScrollBar {}
                clip: true
                ULabel {
                    id: hint
                    objectName: "whatIfHint"
                    anchors.centerIn: parent
                    width: Math.min(parent.width - Theme.px(60), Theme.px(560))
                    horizontalAlignment: Text.AlignHCenter
                    wrapMode: Text.Wrap
                    color: Theme.textMuted
                    text: pane.kernel ? qsTr("Leave out a rule or a step, or give the kernel other Opts: it is compiled again aside, and its code, instructions and times appear here beside those of the kernel as it is.\n\nIn the right-hand pane, a click on an alternative of a decision does the same with that alternative.")
                                      : qsTr("Go to a kernel first: a schedule is not compiled again.")
                }
            }
        }
    }
}
