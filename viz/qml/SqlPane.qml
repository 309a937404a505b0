// SQL over the trace: statement, result, schema, saved queries.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    objectName: "sqlPane"
    color: Theme.canvas
    property int column: 0
    function focusText() { editor.forceActiveFocus(); }
    signal exportAsked()
    RowLayout {
        anchors.fill: parent
        spacing: 0
        ColumnLayout {
            Layout.fillWidth: true
            Layout.fillHeight: true
            spacing: 0
            Rectangle {
                Layout.fillWidth: true
                implicitHeight: Theme.px(132)
                color: Theme.window
                UTextScroll {
                    anchors.fill: parent
                    anchors.margins: Theme.px(8)
                    TextArea {
                        id: editor
                        objectName: "sqlText"
                        text: Tools.sql.text
                        onTextChanged: if (activeFocus) Tools.sql.text = text
                        color: Theme.text
                        font.family: Theme.mono
                        font.pixelSize: Theme.px(12.5)
                        selectByMouse: true
                        background: null
                        placeholderText: "SELECT …"
                        placeholderTextColor: Theme.textFaint
                        Accessible.name: qsTr("SQL statement")
                        Keys.onPressed: event => { if ((event.key === Qt.Key_Return || event.key === Qt.Key_Enter) && event.modifiers & Qt.ControlModifier) { Tools.sql.run(text); event.accepted = true; } }
                    }
                }
            }
            Rectangle {
                Layout.fillWidth: true
                implicitHeight: Theme.px(40)
                color: Theme.panel
                RowLayout {
                    anchors.fill: parent
                    anchors.leftMargin: Theme.px(8)
                    anchors.rightMargin: Theme.px(8)
                    UButton { objectName: "sqlRun"; primary: true; text: Tools.sql.busy ? qsTr("Cancel") : qsTr("Run"); tip: qsTr("Ctrl Enter"); onClicked: Tools.sql.busy ? Tools.sql.cancel() : Tools.sql.run(editor.text) }
                    ULabel { objectName: "sqlSummary"; text: Tools.sql.busy ? qsTr("running…") : Tools.sql.problem.length > 0 ? Tools.sql.problem : Tools.sql.summary; color: Tools.sql.problem.length > 0 ? Theme.error : Theme.textMuted; Layout.fillWidth: true; font.pixelSize: Theme.small; leftPadding: Theme.px(8) }
                    UButton { visible: Tools.sql.more; quiet: false; text: qsTr("All rows"); onClicked: Tools.sql.lift() }
                    UPicker { visible: Tools.sql.columns.length > 0; label: qsTr("Column"); value: String(Math.min(pane.column, Tools.sql.columns.length - 1)); options: Tools.sql.columns.map((c, i) => ({ value: String(i), text: c })); onPicked: value => pane.column = parseInt(value) }
                    UButton { objectName: "sqlMark"; visible: Tools.sql.columns.length > 0; icon16: "target"; tip: qsTr("Mark the nodes of this column in the graph"); onClicked: { Tools.sql.mark(pane.column); Session.tab = "graph"; } }
                    UButton { objectName: "sqlColour"; visible: Tools.sql.columns.length > 0; text: qsTr("Colour"); tip: qsTr("Colour the graph's nodes by the values of this column"); onClicked: { if (Tools.sql.colour(pane.column) > 0) Session.tab = "graph"; } }
                    UButton { objectName: "sqlCondition"; visible: Tools.sql.columns.length > 0; icon16: "stop"; tip: qsTr("The steps of this column as a condition to run to"); onClicked: { const c = Tools.sql.condition(pane.column); if (c.length > 0) { Tools.conditions.text = c; Session.trigger("condition"); } } }
                    UButton { visible: Tools.sql.columns.length > 0; icon16: "copy"; tip: qsTr("Export as CSV or JSON (Ctrl E)"); onClicked: pane.exportAsked() }
                }
                Rectangle { width: parent.width; height: 1; color: Theme.line }
            }
            HorizontalHeaderView {
                id: header
                syncView: table
                Layout.fillWidth: true
                implicitHeight: Theme.px(28)
                visible: Tools.sql.columns.length > 0
                clip: true
                delegate: Rectangle {
                    id: head
                    required property string display
                    required property int index
                    readonly property bool sorted: Tools.sql.sortColumn === index
                    objectName: "sqlHeader" + index
                    implicitHeight: Theme.px(28)
                    implicitWidth: Theme.px(120)
                    color: headArea.containsMouse ? Theme.hover : Theme.panel
                    ULabel { anchors.fill: parent; leftPadding: Theme.px(10); text: head.display + (head.sorted ? (Tools.sql.descending ? " ▾" : " ▴") : ""); color: head.sorted ? Theme.text : Theme.textMuted; font.weight: Font.DemiBold; font.pixelSize: Theme.small }
                    UArea { id: headArea; anchors.fill: parent; name: qsTr("Sort by %1").arg(head.display); onClicked: Tools.sql.sortBy(head.index) }
                }
            }
            TableView {
                id: table
                objectName: "sqlTable"
                property int at: 0 ///< the row with the keyboard
                activeFocusOnTab: true
                Accessible.role: Accessible.Table
                Accessible.name: qsTr("Result")
                Accessible.focusable: true
                Keys.onShortcutOverride: event => event.accepted = [Qt.Key_Up, Qt.Key_Down, Qt.Key_Left, Qt.Key_Right, Qt.Key_Return, Qt.Key_Enter].indexOf(event.key) >= 0
                Keys.onPressed: event => {
                    const down = event.key === Qt.Key_Down ? 1 : event.key === Qt.Key_Up ? -1 : 0, across = event.key === Qt.Key_Right ? 1 : event.key === Qt.Key_Left ? -1 : 0;
                    if (down !== 0 || across !== 0) {
                        at = Math.max(0, Math.min(rows - 1, at + down));
                        pane.column = Math.max(0, Math.min(columns - 1, pane.column + across));
                        positionViewAtCell(Qt.point(pane.column, at), TableView.Contain);
                    } else if (event.key === Qt.Key_Return || event.key === Qt.Key_Enter) Tools.sql.follow(at, pane.column);
                    else return;
                    event.accepted = true;
                }
                Rectangle { parent: table; visible: table.activeFocus; anchors.fill: parent; z: 3; color: "transparent"; border.width: 1; border.color: Theme.accent }
                Layout.fillWidth: true
                Layout.fillHeight: true
                clip: true
                model: Tools.sql
                boundsBehavior: Flickable.StopAtBounds
                ScrollBar.vertical: UScrollBar {}
                ScrollBar.horizontal: UScrollBar {}
                columnWidthProvider: c => Math.max(Theme.px(110), Math.min(Theme.px(420), table.width / Math.max(1, columns)))
                rowHeightProvider: () => Theme.px(25)
                onWidthChanged: Qt.callLater(forceLayout)
                delegate: Rectangle {
                    id: cell
                    required property string display
                    required property bool numeric
                    required property int row
                    required property int column
                    implicitWidth: Theme.px(120)
                    implicitHeight: Theme.px(25)
                    color: area.containsMouse ? Theme.hover : row % 2 ? Theme.panel : Theme.canvas
                    ULabel { anchors.fill: parent; leftPadding: Theme.px(10); rightPadding: Theme.px(10); mono: true; font.pixelSize: Theme.px(11.5); text: cell.display; horizontalAlignment: cell.numeric ? Text.AlignRight : Text.AlignLeft; color: cell.display === "NULL" ? Theme.textFaint : Theme.text }
                    Rectangle { visible: table.activeFocus && cell.row === table.at && cell.column === pane.column; anchors.fill: parent; color: "transparent"; border.width: 2; border.color: Theme.accent }
                    UArea { id: area; anchors.fill: parent; stop: false; name: cell.display; Accessible.role: Accessible.Cell; onClicked: { table.at = cell.row; pane.column = cell.column; } onDoubleClicked: Tools.sql.follow(cell.row, cell.column) }
                }
                ULabel { visible: Tools.sql.columns.length === 0; x: Theme.px(16); y: Theme.px(14); width: table.width - Theme.px(32); wrapMode: Text.Wrap; color: Theme.textFaint; text: qsTr("Run shows rows here. A click chooses a column: its nodes or steps become a selection, a colouring or a condition; a double click goes to one. Queries and tables on the right fill in the text.") }
                Connections { target: Tools.sql; function onModelReset() { Qt.callLater(table.forceLayout); } }
            }
        }
        Rectangle { implicitWidth: 1; Layout.fillHeight: true; color: Theme.line }
        Rectangle {
            Layout.preferredWidth: Theme.px(220)
            Layout.fillHeight: true
            color: Theme.panel
            UList {
                id: side
                objectName: "sqlSide"
                name: qsTr("Queries and tables")
                anchors.fill: parent
                onTaken: index => { const e = model[index]; if (!e.head) Tools.sql.run(e.text || "SELECT * FROM " + e.name); }
                model: [{head: qsTr("Queries")}, ...Tools.sql.saved, {head: qsTr("Tables and views")}, ...Tools.sql.schema]
                delegate: URow {
                    id: entry
                    owner: side
                    at: index
                    enabled: !modelData.head
                    label: modelData.head || modelData.name
                    Accessible.role: modelData.head ? Accessible.Heading : Accessible.ListItem
                    required property var modelData
                    required property int index
                    width: side.width
                    height: modelData.head ? Theme.px(30) : modelData.columns ? Theme.px(22) + names.implicitHeight : Theme.px(26)
                    ULabel { x: Theme.px(10); y: Theme.px(4); width: parent.width - Theme.px(34); text: entry.modelData.head || entry.modelData.name; color: entry.modelData.head ? Theme.accent : Theme.text; font.pixelSize: entry.modelData.head ? Theme.small : Theme.px(12); font.weight: entry.modelData.own ? Font.DemiBold : Font.Normal }
                    ULabel { id: names; visible: entry.modelData.columns !== undefined; x: Theme.px(18); y: Theme.px(21); width: parent.width - Theme.px(26); text: (entry.modelData.columns || []).join(", "); color: Theme.textFaint; font.pixelSize: Theme.px(10.5); wrapMode: Text.Wrap; elide: Text.ElideNone }
                    UButton { visible: entry.modelData.own === true; icon16: "close"; tip: qsTr("Forget"); anchors.right: parent.right; anchors.verticalCenter: parent.verticalCenter; onClicked: Tools.sql.forget(entry.modelData.name) }
                }
                footer: UField { id: name; icon16: ""; hint: qsTr("Keep this query as…"); width: side.width - Theme.px(16); x: Theme.px(8); onAccepted: { Tools.sql.keep(text); text = ""; } }
            }
        }
    }
}
