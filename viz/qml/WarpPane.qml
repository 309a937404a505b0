// One warp of a GPU kernel: the instructions with the threads that execute them, the values of the threads at the current
// step, and the bytes that a memory access touches.
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls.Basic
import uopscope.core

Rectangle {
    id: pane
    objectName: "warpPane"
    color: Theme.canvas
    readonly property bool ready: Tools.warp.stepCount > 0 && !Tools.warp.busy
    readonly property bool narrow: width < Theme.px(700)
    property int pointed: -1 ///< the thread under the mouse
    readonly property var lanes: Tools.warp.lanes     // each is made anew whenever it is asked for
    readonly property var touches: Tools.warp.touched
    function colourOf(thread) { return Qt.hsla((thread * 0.38197) % 1, 0.55, Theme.dark ? 0.62 : 0.5, 1); }
    function go(by) { Tools.warp.step = Tools.warp.step + by; }
    onVisibleChanged: if (visible) list.forceActiveFocus()

    component Choice: Row {
        id: choice
        property string what: ""
        property int at: 0
        property int count: 0
        signal picked(int to)
        visible: count > 1
        UButton { text: "‹"; tip: qsTr("Previous %1").arg(choice.what); enabled: choice.at > 0 && !Tools.warp.busy; onClicked: choice.picked(choice.at - 1) }
        ULabel { height: Theme.px(28); verticalAlignment: Text.AlignVCenter; text: qsTr("%1 %2 of %3").arg(choice.what).arg(choice.at + 1).arg(choice.count); color: Theme.textMuted }
        UButton { text: "›"; tip: qsTr("Next %1").arg(choice.what); enabled: choice.at < choice.count - 1 && !Tools.warp.busy; onClicked: choice.picked(choice.at + 1) }
    }
    component Dots: Row {
        id: dots
        property var times: []
        property bool now: false
        spacing: 1
        Repeater {
            model: dots.times.length
            Rectangle {
                required property int index
                readonly property bool runs: dots.now && pane.lanes[index]?.active === true
                width: dots.times.length > 32 ? Theme.px(3) : Theme.px(6)
                height: Theme.px(10)
                radius: 1
                color: runs || !dots.now && dots.times[index] > 0 && index === pane.pointed ? Theme.accent : dots.times[index] > 0 ? Theme.lineStrong : "transparent"
                border.width: dots.times[index] > 0 ? 0 : 1
                border.color: Theme.line
            }
        }
    }

    ColumnLayout {
        anchors.fill: parent
        spacing: 0
        Rectangle {
            Layout.fillWidth: true
            implicitHeight: bar.height + Theme.px(10)
            color: Theme.panel
            Flow {
                id: bar
                x: Theme.px(14)
                y: Theme.px(5)
                width: parent.width - Theme.px(22)
                spacing: Theme.px(6)
                UButton { objectName: "warpFirst"; icon16: "first"; tip: qsTr("First step"); enabled: pane.ready; onClicked: Tools.warp.step = 0 }
                UButton { objectName: "warpBack"; icon16: "previous"; tip: qsTr("Step back (Left)"); enabled: pane.ready && Tools.warp.step > 0; onClicked: pane.go(-1) }
                UButton { objectName: "warpNext"; icon16: "next"; tip: qsTr("Step (Right)"); enabled: pane.ready && Tools.warp.step < Tools.warp.stepCount - 1; onClicked: pane.go(1) }
                UButton { objectName: "warpAgain"; visible: !pane.narrow; quiet: false; text: qsTr("Again"); tip: qsTr("To the next time that this instruction is executed"); enabled: pane.ready; onClicked: Tools.warp.goToRow(Tools.warp.row) }
                ULabel { height: Theme.px(28); verticalAlignment: Text.AlignVCenter; objectName: "warpPlace"; text: pane.ready ? qsTr("Step %1 of %2").arg(Tools.warp.step + 1).arg(Tools.warp.stepCount) : ""; color: Theme.textMuted }
                Slider {
                    id: slider
                    objectName: "warpSlider"
                    visible: pane.ready
                    width: Theme.px(140)
                    height: Theme.px(28)
                    from: 0
                    to: Math.max(1, Tools.warp.stepCount - 1)
                    stepSize: 1
                    value: Tools.warp.step
                    onMoved: Tools.warp.step = value
                    Accessible.name: qsTr("Step")
                    background: Rectangle { y: (slider.height - height) / 2; width: slider.width; height: Theme.px(3); radius: 1; color: Theme.lineStrong; Rectangle { width: slider.visualPosition * parent.width; height: parent.height; color: Theme.accent } }
                    handle: Rectangle { x: slider.visualPosition * (slider.width - width); y: (slider.height - height) / 2; width: Theme.px(12); height: width; radius: width / 2; color: Theme.canvas; border.width: 2; border.color: slider.visualFocus ? Theme.text : Theme.accent }
                }
                Choice { objectName: "warpGroup"; what: qsTr("group"); at: Tools.warp.group; count: Tools.warp.groups; onPicked: to => Tools.warp.group = to }
                Choice { objectName: "warpWarp"; what: qsTr("warp"); at: Tools.warp.warp; count: Tools.warp.warps; onPicked: to => Tools.warp.warp = to }
                UButton { objectName: "warpClose"; quiet: false; text: qsTr("Text"); tip: qsTr("Back to the linear program"); onClicked: Tools.warp.open = false }
            }
            Rectangle { width: parent.width; height: 1; anchors.bottom: parent.bottom; color: Theme.line }
        }
        ULabel { objectName: "warpRemark"; visible: Tools.warp.remark.length > 0; text: Tools.warp.remark; color: Theme.warning; wrapMode: Text.Wrap; maximumLineCount: 6; Layout.fillWidth: true; Layout.margins: Theme.px(12) }
        ULabel { objectName: "warpSummary"; visible: pane.ready; text: Tools.warp.summary; wrapMode: Text.Wrap; Layout.fillWidth: true; Layout.margins: Theme.px(12) }
        Item {
            Layout.fillWidth: true
            Layout.fillHeight: true
            ULabel { objectName: "warpProblem"; visible: !pane.ready; anchors.centerIn: parent; width: parent.width - Theme.px(40); horizontalAlignment: Text.AlignHCenter; wrapMode: Text.Wrap; color: Theme.textFaint; text: Tools.warp.busy ? qsTr("The interpreter runs the kernel …") : Tools.warp.problem }
            USplit {
                visible: pane.ready
                anchors.fill: parent
                orientation: pane.narrow ? Qt.Vertical : Qt.Horizontal
                UList {
                    id: list
                    objectName: "warpList"
                    name: qsTr("Instructions and the threads that execute them")
                    SplitView.fillWidth: true
                    SplitView.fillHeight: true
                    model: Tools.warp
                    start: Tools.warp.row
                    onTaken: index => { Tools.warp.select(index); Tools.warp.goToRow(index); }
                    Connections { target: Tools.warp; function onStepChanged() { if (Tools.warp.row >= 0) list.positionViewAtIndex(Tools.warp.row, ListView.Contain); } }
                    Keys.onShortcutOverride: event => { if (event.key === Qt.Key_Left || event.key === Qt.Key_Right) event.accepted = true; }
                    Keys.onLeftPressed: pane.go(-1)
                    Keys.onRightPressed: pane.go(1)
                    delegate: URow {
                        id: row
                        required property int index
                        required property int number
                        required property string text
                        required property var threads
                        required property int times
                        readonly property bool now: index === Tools.warp.row
                        owner: list
                        at: index
                        label: text + (times > 1 ? qsTr(", executed %1 times").arg(times) : "")
                        chosen: now
                        width: list.width
                        height: Theme.px(21)
                        opacity: times > 0 || now ? 1 : 0.55
                        RowLayout {
                            anchors.fill: parent
                            anchors.leftMargin: Theme.px(10)
                            anchors.rightMargin: Theme.px(12)
                            spacing: Theme.px(8)
                            ULabel { text: row.number; color: Theme.textFaint; font.pixelSize: Theme.small; mono: true; horizontalAlignment: Text.AlignRight; Layout.preferredWidth: Theme.px(26) }
                            ULabel { text: row.text; mono: true; font.pixelSize: Theme.small; Layout.fillWidth: true }
                            ULabel { visible: row.times > 1; text: "×" + row.times; color: Theme.textFaint; font.pixelSize: Theme.small }
                            Dots { visible: row.times > 0 && list.width > Theme.px(330); times: row.threads; now: row.now }
                        }
                    }
                }
                Flickable {
                    id: side
                    SplitView.preferredWidth: Math.min(Theme.px(400), pane.width * 0.45)
                    SplitView.preferredHeight: pane.height * 0.45
                    SplitView.minimumWidth: Theme.px(220)
                    SplitView.minimumHeight: Theme.px(120)
                    clip: true
                    contentHeight: facts.height + Theme.px(20)
                    boundsBehavior: Flickable.StopAtBounds
                    ScrollBar.vertical: UScrollBar {}
                    Column {
                        id: facts
                        x: Theme.px(12)
                        y: Theme.px(8)
                        width: parent.width - Theme.px(24)
                        spacing: Theme.px(10)
                        ULabel { text: qsTr("Threads"); color: Theme.textMuted; font.pixelSize: Theme.small }
                        Grid {
                            objectName: "warpLanes"
                            columns: facts.width < Theme.px(460) ? 4 : 8
                            spacing: Theme.px(2)
                            Repeater {
                                model: Tools.warp.threads
                                Rectangle {
                                    id: lane
                                    required property int index
                                    readonly property var facts: pane.lanes[index] ?? ({})
                                    width: (facts ? side.width - Theme.px(24) : 0) / parent.columns - Theme.px(2)
                                    height: Theme.px(30)
                                    radius: 3
                                    color: lane.facts.active ? Theme.raised : "transparent"
                                    border.width: 1
                                    border.color: index === pane.pointed ? Theme.accent : Theme.line
                                    Rectangle { visible: lane.facts.active === true && pane.touches.cells !== undefined; width: Theme.px(4); height: parent.height - 2; x: 1; y: 1; color: pane.colourOf(lane.index) }
                                    ULabel { x: Theme.px(8); y: Theme.px(2); text: lane.facts.number ?? ""; color: Theme.textFaint; font.pixelSize: Theme.px(9) }
                                    ULabel { x: Theme.px(8); y: Theme.px(13); width: parent.width - Theme.px(10); text: lane.facts.value ?? ""; mono: true; font.pixelSize: Theme.px(10.5); elide: Text.ElideRight }
                                    UArea { anchors.fill: parent; stop: false; name: qsTr("Thread %1: %2").arg(lane.facts.number ?? 0).arg(lane.facts.active ? lane.facts.value : qsTr("not here")); onEntered: pane.pointed = lane.index; onExited: pane.pointed = -1 }
                                    UTip { visible: pane.pointed === lane.index && lane.facts.value !== undefined && lane.facts.value.length > 0; text: qsTr("thread %1: %2").arg(lane.facts.number ?? 0).arg(lane.facts.value ?? "") }
                                }
                            }
                        }
                        ULabel { visible: touched.present; text: pane.touches.shared ? qsTr("Shared memory: a column is a bank of 4 bytes") : qsTr("Global memory: a row is a sector of 32 bytes"); color: Theme.textMuted; font.pixelSize: Theme.small }
                        Canvas {
                            id: touched
                            objectName: "warpTouched"
                            readonly property bool present: pane.touches.cells !== undefined
                            readonly property real line: Theme.px(15)
                            readonly property real inset: Theme.px(78)
                            visible: present
                            width: parent.width
                            height: present ? Math.min(64, (pane.touches.rows ?? []).length) * line + Theme.px(4) : 0
                            Accessible.role: Accessible.Chart
                            Accessible.name: Tools.warp.summary
                            Connections { target: pane; function onTouchesChanged() { touched.requestPaint(); } }
                            Connections { target: Theme; function onChanged() { touched.requestPaint(); } }
                            Connections { target: pane; function onPointedChanged() { touched.requestPaint(); } }
                            onWidthChanged: requestPaint()
                            onHeightChanged: requestPaint()
                            onPaint: {
                                const c = getContext("2d"), data = pane.touches;
                                c.reset();
                                if (data.cells === undefined) return;
                                const scale = (width - inset) / data.columns, most = Math.floor(height / line);
                                c.font = Math.round(Theme.px(10)) + "px sans-serif";
                                for (let r = 0; r < Math.min(most, data.rows.length); ++r) {
                                    c.fillStyle = Theme.textFaint;
                                    c.textAlign = "right";
                                    c.fillText(data.rows[r], inset - Theme.px(6), r * line + line - Theme.px(4));
                                    c.strokeStyle = Theme.line;
                                    c.strokeRect(inset + 0.5, r * line + 1.5, width - inset - 1, line - 3);
                                }
                                for (const cell of data.cells) {
                                    if (cell.row >= most) continue;
                                    const x = inset + cell.from * scale, w = (cell.to - cell.from) * scale;
                                    c.fillStyle = pane.pointed >= 0 && cell.threads.indexOf(pane.pointed) < 0 ? Theme.lineStrong : pane.colourOf(cell.threads[0]);
                                    c.fillRect(x + 1, cell.row * line + 2, Math.max(1, w - 2), line - 4);
                                    if (w < Theme.px(cell.threads.length > 1 ? 20 : 13)) continue;
                                    c.fillStyle = Theme.canvas;
                                    c.textAlign = "center";
                                    c.fillText(cell.threads.length > 1 ? "×" + cell.threads.length : cell.threads[0].toString(), x + w / 2, cell.row * line + line - Theme.px(4));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
