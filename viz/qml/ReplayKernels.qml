// The list: compilations grouped by the cause of their change, with filters and a search.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    color: Theme.panel
    readonly property var list: Tools.replay.list
    function search() { field.forceActiveFocus(); field.selectAll(); }
    function baseName(path) { return path.substring(path.lastIndexOf("/") + 1); }
    function tone(sign) { return sign === "~" ? Theme.modified : sign === "!" ? Theme.error : sign === "+" || sign === "✓" ? Theme.added : sign === "−" ? Theme.removed : Theme.textFaint; }
    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        UField {
            id: field
            objectName: "replaySearch"
            hint: qsTr("Name, script line or cause")
            Layout.fillWidth: true
            Layout.margins: Theme.px(8)
            onTextChanged: pane.list.search = text
            Keys.onEscapePressed: { if (text.length > 0) clear(); rows.forceActiveFocus(); }
            Keys.onReturnPressed: rows.forceActiveFocus()
            Keys.onDownPressed: pane.list.click(Math.min(rows.count - 1, Math.max(1, pane.list.currentRow + 1)))
            Connections { target: pane.list; function onDiffChanged() { field.text = ""; } }
        }
        Flow {
            Layout.fillWidth: true
            Layout.leftMargin: Theme.px(8)
            Layout.rightMargin: Theme.px(8)
            Layout.bottomMargin: Theme.px(8)
            spacing: Theme.px(5)
            Repeater {
                model: pane.list.filters
                Rectangle {
                    id: chip
                    required property var modelData
                    objectName: "replayFilter-" + modelData.value
                    readonly property bool taken: pane.list.filter === modelData.value
                    implicitWidth: label.implicitWidth + Theme.px(16)
                    implicitHeight: Theme.px(23)
                    radius: height / 2
                    color: taken ? Theme.selection : area.containsMouse ? Theme.hover : Theme.raised
                    border.color: taken ? Theme.accent : Theme.line
                    ULabel { id: label; anchors.centerIn: parent; text: chip.modelData.text + " " + chip.modelData.count; color: chip.taken ? Theme.text : Theme.textMuted; font.pixelSize: Theme.small }
                    UArea { id: area; anchors.fill: parent; radius: chip.radius; name: label.text; Accessible.role: Accessible.RadioButton; Accessible.checkable: true; Accessible.checked: chip.taken; onClicked: pane.list.filter = chip.modelData.value }
                }
            }
        }
        Rectangle { Layout.fillWidth: true; implicitHeight: 1; color: Theme.line }
        ListView {
            id: rows
            objectName: "replayList"
            activeFocusOnTab: true
            Accessible.role: Accessible.List
            Accessible.name: qsTr("Kernels by cause")
            Accessible.focusable: true
            Rectangle { parent: rows; visible: rows.activeFocus; anchors.fill: parent; z: 3; color: "transparent"; border.width: 1; border.color: Theme.accent }
            Layout.fillWidth: true
            Layout.fillHeight: true
            clip: true
            model: pane.list
            reuseItems: true
            boundsBehavior: Flickable.StopAtBounds
            ScrollBar.vertical: UScrollBar {}
            readonly property int wanted: pane.list.currentRow
            // The first row of a group is shown with its cause.
            onWantedChanged: if (wanted >= 0) positionViewAtIndex(wanted === 1 ? 0 : wanted, ListView.Contain)
            delegate: Rectangle {
                id: row
                required property int index
                required property bool group
                required property string text
                required property string place
                required property string count
                required property string sign
                required property string status
                required property real ratio
                required property bool unfolded
                required property bool chosen
                required property real sure
                objectName: "replayRow" + index
                width: rows.width
                height: group ? Math.max(Theme.px(38), cause.implicitHeight + Theme.px(14)) : Theme.row
                color: chosen ? Theme.selection : rowArea.containsMouse ? Theme.hover : group ? Theme.raised : "transparent"
                Rectangle { visible: row.chosen; width: Theme.px(3); height: parent.height; color: Theme.accent }
                UArea { id: rowArea; anchors.fill: parent; stop: false; name: row.text + " " + row.status; Accessible.role: Accessible.ListItem; Accessible.selected: row.chosen; onClicked: { rows.forceActiveFocus(); pane.list.click(row.index); } }
                RowLayout { // a cause
                    visible: row.group
                    anchors.fill: parent
                    anchors.leftMargin: Theme.px(8)
                    anchors.rightMargin: Theme.px(12)
                    spacing: Theme.px(6)
                    Icon { name: row.unfolded ? "down" : "right"; implicitWidth: Theme.px(12); implicitHeight: implicitWidth; color: Theme.textMuted }
                    ULabel { id: cause; text: row.text; font.weight: Font.DemiBold; wrapMode: Text.Wrap; maximumLineCount: 3; Layout.fillWidth: true }
                    ULabel { text: row.count; color: Theme.textMuted; font.pixelSize: Theme.small }
                }
                RowLayout { // a compilation
                    visible: !row.group
                    anchors.fill: parent
                    anchors.leftMargin: Theme.px(26)
                    anchors.rightMargin: Theme.px(12)
                    spacing: Theme.px(8)
                    ULabel { text: row.sign; color: pane.tone(row.sign); font.bold: true; Layout.preferredWidth: Theme.px(10) }
                    ULabel { text: row.text; Layout.fillWidth: true; Layout.preferredWidth: Theme.px(150); font.weight: row.chosen ? Font.DemiBold : Font.Normal }
                    ULabel { visible: row.ratio > 0; text: "×" + row.ratio.toFixed(1); color: row.ratio > 1 ? Theme.removed : Theme.added; font.pixelSize: Theme.small }
                    ULabel { text: pane.baseName(row.place); color: Theme.textFaint; font.pixelSize: Theme.small; elide: Text.ElideLeft; Layout.maximumWidth: row.width * 0.42 }
                }
                UTip { visible: rowArea.containsMouse && !row.group; delay: 900; x: row.width + Theme.px(8); y: 0; text: row.text + "\n" + row.status + (row.place.length > 0 ? "\n" + row.place : "") + (row.sure < 1 ? "\n" + qsTr("paired by likeness: %1 %").arg(Math.round(row.sure * 100)) : "") + (row.ratio > 0 ? "\n" + qsTr("compile time ×%1").arg(row.ratio.toFixed(2)) : "") }
            }
            ULabel { visible: rows.count === 0; x: Theme.px(14); y: Theme.px(8); text: pane.list.total === 0 ? qsTr("The files hold no compilation.") : qsTr("Nothing is listed by this search."); color: Theme.textFaint }
        }
        ULabel {
            visible: pane.list.shown !== pane.list.total
            Layout.margins: Theme.px(8)
            text: qsTr("%1 of %2").arg(pane.list.shown).arg(pane.list.total)
            color: Theme.textFaint
            font.pixelSize: Theme.small
        }
    }
}
