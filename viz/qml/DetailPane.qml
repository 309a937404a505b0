// The right-hand pane: the step (rule, before, after) and the selected node (fields, origin, neighbours).
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    color: Theme.panel
    readonly property var step: Session.stepInfo
    readonly property var node: Session.nodeInfo
    readonly property bool hasRule: step.rule !== undefined
    readonly property bool hasNode: Session.node >= 0 && node.op !== undefined
    function go(id) { Session.node = id; Session.tab = "graph"; Session.focusAsked(id); }

    component Field: RowLayout {
        property string key: ""
        property string value: ""
        spacing: Theme.px(10)
        Layout.fillWidth: true
        ULabel { text: parent.key; color: Theme.textFaint; font.pixelSize: Theme.small; Layout.preferredWidth: Theme.px(62); Layout.alignment: Qt.AlignTop; Layout.topMargin: 1 }
        TextEdit {
            text: parent.value
            readOnly: true
            selectByMouse: true
            Accessible.role: Accessible.StaticText
            Accessible.readOnly: true
            Accessible.name: parent.key + " " + text
            color: Theme.text
            selectionColor: Theme.accent
            selectedTextColor: Theme.accentText
            font.family: Theme.mono
            font.pixelSize: Theme.px(11.5)
            wrapMode: TextEdit.WrapAtWordBoundaryOrAnywhere
            Layout.fillWidth: true
        }
    }
    component Caption: ULabel { color: Theme.textFaint; font.pixelSize: Theme.small; Layout.fillWidth: true; wrapMode: Text.Wrap }

    Flickable {
        id: flick
        objectName: "details"
        anchors.fill: parent
        contentWidth: width
        contentHeight: column.height
        boundsBehavior: Flickable.StopAtBounds
        clip: true
        ScrollBar.vertical: UScrollBar {}
        Column {
            id: column
            width: flick.width
            topPadding: Theme.px(14)
            bottomPadding: Theme.px(20)

            ColumnLayout {
                id: summary
                x: Theme.px(14)
                width: column.width - 2 * x
                spacing: Theme.px(8)
                visible: Session.pass > 0
                RowLayout {
                    Layout.fillWidth: true
                    ULabel { text: Session.step === 0 ? qsTr("Before the first step") : qsTr("Step %1 of %2").arg(Session.step).arg(Session.stepCount); color: Theme.textMuted; font.pixelSize: Theme.small; Layout.fillWidth: true }
                    ULabel { text: pane.step.time || ""; color: Theme.textFaint; font.pixelSize: Theme.small }
                }
                ULabel {
                    objectName: "ruleName"
                    text: pane.hasRule ? pane.step.rule : Session.passName
                    font.pixelSize: Theme.title
                    font.weight: Font.DemiBold
                    wrapMode: Text.WrapAnywhere
                    Layout.fillWidth: true
                }
                Flow {
                    Layout.fillWidth: true
                    spacing: Theme.px(6)
                    UChip { visible: pane.hasRule && pane.step.ruleAt.text.length > 0; sign: "@"; text: pane.hasRule ? pane.step.ruleAt.text : "" }
                    UChip { visible: pane.hasRule && pane.step.kind === "down"; sign: "↓"; text: qsTr("on the way down") }
                    UChip { visible: pane.hasRule && pane.step.unchanged === true; sign: "!"; tone: Theme.warning; text: qsTr("changed nothing") }
                    UChip { visible: pane.hasRule && pane.step.kind === "error"; sign: "×"; tone: Theme.error; text: qsTr("the rule failed") }
                    UChip { objectName: "whatIfNot"; visible: pane.hasRule && Session.scopeKind === "kernel"; text: qsTr("What if not?"); link: true; onClicked: Tools.whatIf.withoutStep() }
                    UChip { visible: !pane.hasRule && Session.passPlace.length > 0; sign: "@"; text: Session.passPlace }
                }
                Rectangle {
                    visible: (pane.step.message || "").length > 0 || Session.passProblem.length > 0
                    Layout.fillWidth: true
                    implicitHeight: message.implicitHeight + Theme.px(16)
                    radius: 6
                    color: Theme.window
                    border.color: Theme.error
                    ULabel { id: message; x: Theme.px(10); y: Theme.px(8); width: parent.width - Theme.px(20); wrapMode: Text.Wrap; color: Theme.error; text: pane.step.message || Session.passProblem }
                }
                CodeBox { visible: pane.hasRule && plain.length > 0; plain: pane.step.ruleText || ""; most: 130 }
                Caption { visible: !pane.hasRule; text: Session.stepCount > 0 ? qsTr("The graph as the pass began. Press → for the first rewrite.") : qsTr("No rule was applied in this pass.") }
            }
            Item { visible: summary.visible; width: 1; height: Theme.px(12) }
            DecisionSection { made: pane.hasRule ? pane.step.decisions || [] : [] }
            DSection {
                visible: pane.hasRule && pane.step.beforeHtml !== undefined
                title: qsTr("Before and after")
                NodeRow { visible: pane.step.beforeNode !== undefined; info: pane.step.beforeNode || ({}); lead: "−"; onChosen: pane.go(info.id) }
                CodeBox { objectName: "beforeBox"; html: pane.step.beforeHtml || ""; sign: "−"; tone: Theme.removed; dashed: true }
                NodeRow { visible: pane.step.afterNode !== undefined; info: pane.step.afterNode || ({}); lead: "+"; onChosen: pane.go(info.id) }
                CodeBox { objectName: "afterBox"; visible: pane.step.afterHtml !== undefined; html: pane.step.afterHtml || ""; sign: "+"; tone: Theme.added }
                Caption { visible: pane.step.treeHtml !== undefined; text: qsTr("The expressions read the same; types or arguments differ:") }
                CodeBox { visible: pane.step.treeHtml !== undefined; html: pane.step.treeHtml || "" }
            }
            CheckSection { visible: pane.hasRule; width: column.width }
            DSection {
                visible: pane.hasRule && (pane.step.pattern || "").length > 0
                title: qsTr("Pattern")
                open: false
                CodeBox { plain: pane.step.pattern || "" }
            }
            ColumnLayout {
                visible: !pane.hasNode && Session.pass > 0
                x: Theme.px(14)
                width: column.width - 2 * x
                Item { implicitHeight: Theme.px(6) }
                Caption { text: qsTr("Click a node to see its fields, the script line it came from and every rewrite on the way.") }
            }
            DSection {
                visible: pane.hasNode
                title: qsTr("Node")
                detail: pane.hasNode ? (pane.node.between ? qsTr("between two steps") : "#" + pane.node.id) : ""
                RowLayout {
                    Layout.fillWidth: true
                    spacing: Theme.px(8)
                    Rectangle { implicitWidth: Theme.px(5); implicitHeight: Theme.px(18); radius: 2.5; color: Theme.dark, Theme.familyColour(pane.hasNode ? pane.node.family : -1) }
                    ULabel { objectName: "nodeOp"; text: pane.hasNode ? pane.node.op : ""; font.pixelSize: Theme.title; font.weight: Font.DemiBold; Layout.fillWidth: true }
                    UButton { icon16: "target"; tip: qsTr("Show in the graph (F)"); onClicked: { Session.tab = "graph"; Session.focusAsked(Session.node); } }
                }
                Caption { text: pane.hasNode ? pane.node.doc : "" }
                Repeater {
                    model: pane.hasNode ? pane.node.facts : []
                    Field { required property var modelData; key: modelData.key; value: modelData.value }
                }
                Field { objectName: "nodeNumber"; visible: Tools.values.ofNode.length > 0; key: qsTr("number"); value: Tools.values.ofNode }
                CodeBox { visible: plain.length > 0; plain: pane.hasNode ? pane.node.expression : ""; most: 140 }
            }
            DSection {
                visible: pane.hasNode && ((pane.node.origins || []).length > 0 || (pane.node.chain || []).length > 0)
                title: qsTr("Where it came from")
                Repeater {
                    model: pane.hasNode ? pane.node.origins || [] : []
                    Rectangle {
                        id: origin
                        required property var modelData
                        Layout.fillWidth: true
                        implicitHeight: Theme.px(28)
                        radius: 6
                        color: originArea.containsMouse ? Theme.hover : Theme.window
                        border.color: Theme.line
                        Row {
                            anchors.verticalCenter: parent.verticalCenter
                            x: Theme.px(9)
                            spacing: Theme.px(8)
                            Icon { name: "script"; width: Theme.px(14); height: width; color: Theme.accent; anchors.verticalCenter: parent.verticalCenter }
                            ULabel { text: origin.modelData.operation; font.weight: Font.DemiBold }
                            ULabel { text: origin.modelData.place.text; color: Theme.textMuted; font.pixelSize: Theme.small; anchors.verticalCenter: parent.verticalCenter }
                        }
                        UTip { visible: originArea.containsMouse && origin.modelData.doc.length > 0; text: origin.modelData.doc }
                        UArea { id: originArea; objectName: "origin"; anchors.fill: parent; cursorShape: Qt.PointingHandCursor; name: origin.modelData.operation + " " + origin.modelData.place.text; onClicked: { Session.scriptCode.currentLine = origin.modelData.place.line; Session.tab = "script"; } }
                    }
                }
                Repeater {
                    model: pane.hasNode ? pane.node.chain || [] : []
                    Rectangle {
                        id: made
                        required property var modelData
                        readonly property bool leads: modelData.kind === "rule"
                        Layout.fillWidth: true
                        implicitHeight: lines.implicitHeight + Theme.px(8)
                        radius: 5
                        color: madeArea.containsMouse && leads ? Theme.hover : "transparent"
                        Rectangle { x: Theme.px(7); width: 1; height: parent.height; color: Theme.line }
                        Rectangle { x: Theme.px(4); y: Theme.px(9); width: Theme.px(7); height: width; radius: width / 2; color: made.leads ? Theme.added : made.modelData.kind === "rebuilt" ? Theme.modified : Theme.lineStrong }
                        Column {
                            id: lines
                            x: Theme.px(20)
                            y: Theme.px(3)
                            width: parent.width - Theme.px(24)
                            ULabel {
                                width: parent.width
                                font.pixelSize: Theme.px(12)
                                text: made.modelData.kind === "rule" ? made.modelData.rule
                                    : made.modelData.kind === "root" ? qsTr("in the graph as the pass began")
                                    : made.modelData.kind === "rebuilt" ? qsTr("rebuilt: a source changed") : qsTr("made outside any recorded step")
                            }
                            ULabel {
                                width: parent.width
                                font.pixelSize: Theme.px(10.5)
                                color: Theme.textFaint
                                text: (made.modelData.passName || "") + (made.modelData.step > 0 ? qsTr(" · step %1").arg(made.modelData.step) : "") + (made.modelData.from ? qsTr(" · from %1").arg(made.modelData.from.op) : "")
                            }
                        }
                        UArea { id: madeArea; anchors.fill: parent; enabled: made.leads; name: (made.modelData.rule || made.modelData.kind) + " " + (made.modelData.passName || "") + " " + (made.modelData.step || ""); cursorShape: Qt.PointingHandCursor; onClicked: Session.goTo(made.modelData.pass, made.modelData.step, made.modelData.node) }
                    }
                }
                Caption { visible: pane.hasNode && pane.node.chainCount > 40; text: pane.hasNode && pane.node.chainCount ? qsTr("and %1 earlier ones").arg(pane.node.chainCount - 40) : "" }
            }
            DSection {
                visible: pane.hasNode && (pane.node.fate || []).length > 0
                title: qsTr("What became of it")
                Repeater {
                    model: pane.hasNode ? pane.node.fate || [] : []
                    NodeRow {
                        required property var modelData
                        info: modelData.what || ({})
                        trail: (modelData.rule || "") + (modelData.step > 0 ? " · " + modelData.step : "")
                        lead: "→"
                        onChosen: Session.goTo(modelData.pass, modelData.step, modelData.node)
                    }
                }
            }
            DSection {
                visible: pane.hasNode && pane.node.sourceCount > 0
                title: pane.hasNode && pane.node.members ? qsTr("Nodes") : qsTr("Sources")
                detail: pane.hasNode ? pane.node.sourceCount : ""
                Repeater {
                    model: pane.hasNode ? pane.node.sources : []
                    NodeRow { required property var modelData; info: modelData; lead: modelData.port ?? ""; onChosen: pane.go(modelData.id) }
                }
                Caption { visible: pane.hasNode && pane.node.sourceCount > 40; text: pane.hasNode ? qsTr("and %1 more").arg(pane.node.sourceCount - 40) : "" }
            }
            DSection {
                visible: pane.hasNode && pane.node.userCount > 0
                title: qsTr("Users")
                detail: pane.hasNode ? pane.node.userCount : ""
                Repeater {
                    model: pane.hasNode ? pane.node.users : []
                    NodeRow { required property var modelData; info: modelData; onChosen: pane.go(modelData.id) }
                }
                Caption { visible: pane.hasNode && pane.node.userCount > 40; text: pane.hasNode ? qsTr("and %1 more").arg(pane.node.userCount - 40) : "" }
            }
        }
    }
}
