// The search in a graph. It covers the whole pass, since nodes that only the map shows would not be found; at its end the view
// from before comes back, unless a node was gone to that this view would not show.
//
//   GraphSearch { id: finder; onEnded: canvas.forceActiveFocus() }   finder.begin(); finder.end();
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: box
    objectName: "searchBox"
    property bool searching: false
    property var before: null ///< the view that was left
    signal ended()
    function begin() {
        if (!searching) before = { group: Tools.graph.groupBy, alone: Session.stepAlone };
        if (Tools.graph.levels.length > 0) Tools.graph.groupBy = "nothing";
        if (Session.graph.elsewhere + Session.graph.foldedExpressions + Session.graph.groups > 0) Session.stepAlone = false;
        searching = true;
        field.forceActiveFocus();
        field.selectAll();
    }
    function end() {
        const gone = Session.graph.foundIndex >= 0;
        searching = false;
        field.text = "";
        Session.graph.search("");
        if (before !== null && !gone) {
            Tools.graph.groupBy = before.group;
            Session.stepAlone = before.alone;
        }
        before = null;
        ended();
    }
    visible: searching
    height: Theme.px(40)
    radius: 8
    color: Theme.raised
    border.color: Theme.lineStrong
    RowLayout {
        anchors.fill: parent
        anchors.margins: Theme.px(6)
        spacing: Theme.px(4)
        UField {
            id: field
            objectName: "searchField"
            hint: qsTr("ADD, op:ADD dtype:float* line:12 users>3, /regex/")
            Layout.fillWidth: true
            onTextChanged: Session.graph.search(text)
            Keys.onReturnPressed: event => Session.graph.nextFound(event.modifiers & Qt.ShiftModifier ? -1 : 1)
            Keys.onEnterPressed: Session.graph.nextFound(1)
            Keys.onEscapePressed: box.end()
        }
        ULabel {
            text: Session.graph.searchProblem.length > 0 ? Session.graph.searchProblem : field.text.length === 0 ? "" : Session.graph.foundCount === 0 ? qsTr("none") : Session.graph.foundIndex < 0 ? Session.graph.foundCount : (Session.graph.foundIndex + 1) + " / " + Session.graph.foundCount
            color: Session.graph.foundCount === 0 ? Theme.removed : Theme.textMuted
            font.pixelSize: Theme.small
        }
        UButton { icon16: "previous"; tip: qsTr("Previous (Shift F3)"); onClicked: Session.graph.nextFound(-1) }
        UButton { icon16: "next"; tip: qsTr("Next (F3)"); onClicked: Session.graph.nextFound(1) }
        UButton { icon16: "close"; tip: qsTr("Close (Esc)"); onClicked: box.end() }
    }
}
