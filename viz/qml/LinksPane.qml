// Script, tensor operations, rewrites, UOps, kernel and assembly side by side: a selection in one is shown in
// all, and lines of one tensor operation have one colour in all.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    objectName: "linksPane"
    color: Theme.canvas
    onVisibleChanged: if (visible) Tools.linked.load()
    component Lines: ColumnLayout {
        id: lines
        property string title: ""
        property string which: ""
        property LinkedLines model
        property string hint: ""
        spacing: 0
        SplitView.minimumWidth: Theme.px(110)
        PaneHeader { Layout.fillWidth: true; title: lines.title; detail: lines.model.litCount > 0 ? lines.model.litCount + " / " + lines.model.count : lines.model.count }
        UList {
            id: list
            objectName: "linked-" + lines.which
            name: lines.title
            Layout.fillWidth: true
            Layout.fillHeight: true
            model: lines.model
            reuseItems: true
            onTaken: index => { if (lines.which !== "rewrites") Tools.linked.select(lines.which, index); else Tools.linked.follow("rewrites", index); }
            Connections { target: lines.model; function onLitChanged() { if (lines.model.firstLit >= 0 && !list.moving) list.positionViewAtIndex(lines.model.firstLit, ListView.Contain); } }
            delegate: URow {
                id: row
                owner: list
                at: index
                label: text || qsTr("empty line")
                chosen: lit
                onDoubleClicked: if (lines.which === "uops") Tools.linked.follow("uops", index)
                required property int index
                required property string html
                required property string text
                required property bool lit
                required property bool known
                required property int number
                required property int colour
                required property string of
                width: list.width
                height: Theme.px(20)
                clip: true
                Rectangle { visible: row.colour >= 0; anchors.fill: parent; color: Theme.dark, Theme.tintColour(row.colour, false); opacity: row.lit ? 0.34 : 0.14 }
                Rectangle { objectName: "rainbow"; visible: row.colour >= 0; x: Theme.px(37); width: Theme.px(3); height: parent.height; color: Theme.dark, Theme.tintColour(row.colour, false) }
                Rectangle { visible: row.lit; width: Theme.px(3); height: parent.height; color: Theme.accent }
                ULabel { x: Theme.px(4); width: Theme.px(30); height: parent.height; horizontalAlignment: Text.AlignRight; text: row.number; color: row.known ? Theme.accent : Theme.textFaint; font.pixelSize: Theme.px(10.5) }
                Text { id: line; x: Theme.px(42); height: parent.height; verticalAlignment: Text.AlignVCenter; text: Theme.rich(row.html, Theme.dark); textFormat: Text.RichText; font.family: Theme.mono; font.pixelSize: Theme.px(11.5); font.weight: row.lit ? Font.DemiBold : Font.Normal; color: Theme.text }
                UTip { visible: row.hovered && (row.of.length > 0 || line.implicitWidth > row.width - line.x); delay: 500; text: row.text + (row.of.length > 0 && row.of !== row.text ? "\n" + qsTr("of %1").arg(row.of) : "") }
            }
            ULabel { visible: list.count === 0; width: parent.width - Theme.px(20); x: Theme.px(10); y: Theme.px(6); wrapMode: Text.Wrap; elide: Text.ElideNone; color: Theme.textFaint; font.pixelSize: Theme.small; text: lines.hint }
        }
    }
    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        Rectangle {
            Layout.fillWidth: true
            implicitHeight: Theme.px(30)
            color: Theme.panel
            ULabel { objectName: "linkedCost"; x: Theme.px(12); width: parent.width - Theme.px(24); anchors.verticalCenter: parent.verticalCenter; text: Tools.linked.missing.length > 0 ? Tools.linked.missing : Session.scopeName + ": " + Tools.linked.cost; color: Theme.textMuted; font.pixelSize: Theme.small }
            Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
        }
        USplit {
            Layout.fillWidth: true
            Layout.fillHeight: true
            Lines { title: qsTr("Script"); which: "script"; model: Tools.linked.script; SplitView.preferredWidth: pane.width * 0.19; hint: qsTr("This trace does not hold its script.") }
            USplit {
                orientation: Qt.Vertical
                SplitView.preferredWidth: pane.width * 0.16
                Lines { title: qsTr("Tensor"); which: "tensors"; model: Tools.linked.tensors; SplitView.preferredHeight: pane.height * 0.4; hint: qsTr("No operation of the script is known.") }
                Lines { title: qsTr("Rewrites"); which: "rewrites"; model: Tools.linked.rewrites; SplitView.fillHeight: true; hint: qsTr("Select something: the rewrites that made it, oldest first. A click goes to one.") }
            }
            Lines { title: qsTr("UOps"); which: "uops"; model: Tools.linked.uops; SplitView.preferredWidth: pane.width * 0.2; hint: qsTr("No linear program.") }
            Lines { title: qsTr("Kernel"); which: "source"; model: Tools.linked.source; SplitView.fillWidth: true; hint: qsTr("No source was recorded.") }
            Lines { title: qsTr("Assembly"); which: "assembly"; model: Tools.linked.assembly; SplitView.preferredWidth: pane.width * 0.22; hint: qsTr("This device recorded no assembly.") }
        }
    }
}
