// Chooses a file to open or to write: a person types a name or clicks in the folder. Return never replaces an
// existing file; a separate button does.
//
//   filePopup.save(["svg", "png"], "matmul-step-4.svg", path => exportTo(path))
import QtQuick
import QtQuick.Layouts
import QtQuick.Controls
import uopscope.core

Popup {
    id: popup
    objectName: "filePopup"
    property var then: path => {}
    readonly property FileChooser files: Tools.files
    parent: Overlay.overlay
    x: (parent.width - width) / 2
    y: Math.max(Theme.px(20), (parent.height - height) / 3)
    width: Math.min(parent.width - Theme.px(40), Theme.px(640))
    height: Math.min(parent.height - Theme.px(40), Theme.px(520))
    padding: Theme.px(14)
    modal: true
    focus: true
    Overlay.modal: Rectangle { color: Theme.dark ? "#80000000" : "#40000000" }
    background: Rectangle { radius: 10; color: Theme.raised; border.color: Theme.lineStrong }

    function ask(saving, endings, name, done) {
        then = done;
        files.begin(saving, endings, name);
        open();
        field.forceActiveFocus();
        // Selects the name without its extension: typing replaces the name and keeps the format.
        const dot = name.lastIndexOf(".");
        field.select(0, dot > 0 ? dot : name.length);
    }
    function save(endings, name, done) { ask(true, endings, name, done); }
    function load(endings, done) { ask(false, endings, "", done); }
    Connections {
        target: popup.files
        enabled: popup.visible
        function onChosen(path) {
            const done = popup.then;
            popup.close();
            done(path);
        }
    }
    contentItem: ColumnLayout {
        spacing: Theme.px(10)
        RowLayout {
            spacing: Theme.px(8)
            ULabel { text: popup.files.saving ? qsTr("Export") : qsTr("Open"); font.pixelSize: Theme.title; font.weight: Font.DemiBold; Layout.fillWidth: true }
            USegments {
                objectName: "fileEnding"
                visible: popup.files.saving && popup.files.endings.length > 1
                options: popup.files.endings.map(e => ({ value: e, text: e.toUpperCase() }))
                value: popup.files.ending
                onPicked: value => popup.files.ending = value
            }
        }
        RowLayout {
            spacing: Theme.px(6)
            Layout.fillWidth: true
            UButton { objectName: "fileUp"; icon16: "up"; tip: qsTr("The folder above"); onClicked: popup.files.up() }
            ULabel { objectName: "fileFolder"; text: popup.files.folder; mono: true; font.pixelSize: Theme.small; color: Theme.textMuted; elide: Text.ElideLeft; Layout.fillWidth: true }
        }
        Rectangle {
            Layout.fillWidth: true
            Layout.fillHeight: true
            radius: 6
            color: Theme.window
            border.color: Theme.line
            clip: true
            UList {
                id: list
                objectName: "fileList"
                name: qsTr("Files in %1").arg(popup.files.folder)
                anchors.fill: parent
                anchors.margins: 1
                model: popup.files.entries
                onTaken: index => { if (popup.files.enter(model[index].name)) field.forceActiveFocus(); }
                delegate: URow {
                    id: row
                    owner: list
                    at: index
                    label: modelData.name
                    required property var modelData
                    required property int index
                    objectName: "file-" + modelData.name
                    width: list.width
                    height: Theme.row
                    chosen: modelData.name === popup.files.name
                    onDoubleClicked: popup.files.choose()
                    RowLayout {
                        anchors.fill: parent
                        anchors.leftMargin: Theme.px(10)
                        anchors.rightMargin: Theme.px(12)
                        spacing: Theme.px(8)
                        Icon { name: row.modelData.folder ? "open" : "script"; implicitWidth: Theme.px(14); implicitHeight: implicitWidth; color: row.modelData.folder ? Theme.accent : Theme.textFaint }
                        ULabel { text: row.modelData.name; Layout.fillWidth: true }
                        ULabel { text: row.modelData.detail; color: Theme.textFaint; font.pixelSize: Theme.small }
                    }
                }
            }
            ULabel { visible: list.count === 0; anchors.centerIn: parent; text: qsTr("Nothing of this kind is here."); color: Theme.textFaint }
        }
        UField {
            id: field
            objectName: "fileName"
            icon16: ""
            hint: popup.files.saving ? qsTr("Name of the file") : qsTr("Name of a file or folder")
            onTextChanged: popup.files.name = text
            Layout.fillWidth: true
            Keys.onReturnPressed: popup.files.choose()
            Keys.onEnterPressed: popup.files.choose()
            Connections { target: popup.files; function onChanged() { if (field.text !== popup.files.name) field.text = popup.files.name; } }
        }
        ULabel { objectName: "fileProblem"; visible: text.length > 0; text: popup.files.problem; color: Theme.warning; wrapMode: Text.Wrap; elide: Text.ElideNone; Layout.fillWidth: true }
        RowLayout {
            spacing: Theme.px(8)
            Item { Layout.fillWidth: true }
            UButton { objectName: "fileCancel"; quiet: false; text: qsTr("Cancel"); onClicked: popup.close() }
            UButton { objectName: "fileReplace"; visible: popup.files.taken; quiet: false; text: qsTr("Replace"); onClicked: popup.files.replace() }
            UButton { objectName: "fileChoose"; primary: true; text: popup.files.saving ? qsTr("Write") : qsTr("Open"); onClicked: popup.files.choose() }
        }
    }
}
