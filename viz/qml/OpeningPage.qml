// A trace is being read for the first time; a large one takes a moment.
import QtQuick
import QtQuick.Layouts
import uopscope.core

Rectangle {
    color: Theme.canvas
    RowLayout {
        anchors.centerIn: parent
        spacing: Theme.px(16)
        ULabel { objectName: "openingLabel"; text: qsTr("Opening %1").arg(Session.fileName); font.pixelSize: Theme.px(20); font.weight: Font.DemiBold; elide: Text.ElideMiddle; Layout.maximumWidth: Theme.px(600) }
        UButton { objectName: "cancelOpening"; quiet: false; icon16: "stop"; text: qsTr("Cancel"); onClicked: Session.close() }
    }
}
