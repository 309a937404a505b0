// A text that scrolls: a TextArea inside. Qt draws the lines that were in view when the text was last moved, so a text that got
// its place while it was hidden, or more room, would stay blank there until somebody touches it; here it is told.
//
//   UTextScroll { TextArea { text: Tools.rule.text } }
import QtQuick
import QtQuick.Controls.Basic

ScrollView {
    id: scroll
    function tell() {
        const view = contentItem as Flickable;
        if (!view || height <= 0) return;
        const at = view.contentY;
        view.contentY = at + 1;
        view.contentY = at;
    }
    // A timer goes with its page; a call of Qt.callLater would be made after its end too.
    readonly property Timer telling: Timer { interval: 0; onTriggered: scroll.tell() }
    onHeightChanged: telling.restart()
    onVisibleChanged: if (visible) telling.restart()
}
