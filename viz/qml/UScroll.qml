// A part of the window that needs some height. Where there is less, with large texts in a small window, it scrolls.
//
//   UScroll { needed: column.implicitHeight + Theme.px(60); ColumnLayout { id: column; anchors.centerIn: parent } }
import QtQuick
import QtQuick.Controls.Basic
import uopscope.core

Flickable {
    id: scroll
    property real needed: 0
    default property alias parts: place.data
    contentWidth: width
    contentHeight: Math.max(height, needed)
    interactive: contentHeight > height + 1
    flickableDirection: Flickable.VerticalFlick
    boundsBehavior: Flickable.StopAtBounds
    clip: true
    ScrollBar.vertical: UScrollBar {}
    Item { id: place; width: scroll.width; height: scroll.contentHeight }
}
