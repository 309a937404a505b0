// Where an export goes. Loaded when it is first needed.
import QtQuick
import QtQuick.Dialogs

FileDialog {
    property var then: path => {}
    fileMode: FileDialog.SaveFile
    title: qsTr("Export")
}
