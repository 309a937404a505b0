// Loaded when it is first needed: the dialogs of the platform cost startup time.
import QtQuick
import QtQuick.Dialogs

FileDialog {
    property var then: path => {}
    title: qsTr("Open a script or a trace")
    nameFilters: [qsTr("Scripts and traces (*.py *.uoptrace *.uopcorpus)"), qsTr("All files (*)")]
}
