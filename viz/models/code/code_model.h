// A text as lines: kernel source, IR, assembly, UOps, the model script. A line is highlighted when it is
// first shown, so a text of any length opens at once. A line may carry a note, such as the kernels that a
// script line made; the note is a link.
//
//   CodeModel code;  code.setText("source", text);  code.lineCount()
#pragma once
#include "viz/models/work/line_registers.h"
#include "viz/models/work/rich_text.h"

#include <QAbstractListModel>
#include <QVariantMap>
#include <map>
#include <vector>

namespace uopscope {

class CodeModel : public QAbstractListModel {
  Q_OBJECT
  Q_PROPERTY(int lineCount READ lineCount NOTIFY changed)
  Q_PROPERTY(QString title READ title NOTIFY changed)
  /// The reason why there is no text; empty where there is one.
  Q_PROPERTY(QString missing READ missing NOTIFY changed)
  Q_PROPERTY(int currentLine READ currentLine WRITE setCurrentLine NOTIFY changed)
  /// The line where the script failed, and the error; 0: it did not fail.
  Q_PROPERTY(int faultLine READ faultLine NOTIFY changed)
  Q_PROPERTY(QString faultText READ faultText NOTIFY changed)
  Q_PROPERTY(int widest READ widest NOTIFY changed)
  /// The curve of registers beside the lines: those in use where most are, those that there are, the line of the peak; 0: no
  /// curve is known.
  Q_PROPERTY(int registersMost READ registersMost NOTIFY changed)
  Q_PROPERTY(int registersLimit READ registersLimit NOTIFY changed)
  Q_PROPERTY(int registersPeak READ registersPeak NOTIFY changed)
  /// One sentence on the registers of the whole text; empty where they are not known.
  Q_PROPERTY(QString registersText READ registersText NOTIFY changed)

public:
  enum Roles { NumberRole = Qt::UserRole + 1, HtmlRole, NoteRole, NoteScopeRole, LinkedRole, AliveRole };
  struct Note {
    QString text;
    qlonglong scope = 0;
  };
  using QAbstractListModel::QAbstractListModel;

  void setText(const QString& title, const QString& text, Language language,
               std::shared_ptr<const LineRegisters> registers = {});
  void setMissing(const QString& why);
  void setNotes(std::map<int, Note> notes);
  /// Highlights the line that belongs to the state of the window; 0 for none.
  void setCurrentLine(int line);
  int currentLine() const { return current_; }
  void setFault(int line, const QString& text);
  int faultLine() const { return fault_; }
  QString faultText() const { return faultText_; }
  int lineCount() const { return static_cast<int>(lines_.size()); }
  QString title() const { return title_; }
  QString missing() const { return missing_; }
  int widest() const { return widest_; } ///< characters of the longest line
  int registersMost() const { return registers_ ? registers_->most() : 0; }
  int registersLimit() const { return registers_ ? registers_->limit() : 0; }
  int registersPeak() const { return registers_ ? registers_->peakLine() : 0; }
  QString registersText() const { return registersMost() ? registers_->summary() : QString(); }
  /// Who holds the registers behind a line (from 1).
  Q_INVOKABLE QString registersAt(int line) const { return registers_ ? registers_->who(line) : QString(); }
  /// Lines first to last (from 1), both included, as plain text.
  Q_INVOKABLE QString plainText(int first = 1, int last = -1) const;
  /// Returns an error text, empty on success.
  Q_INVOKABLE QString exportTo(const QString& path) const;
  /// The next line that contains the text, searched from `line` on and around the end; 0 if there is none.
  Q_INVOKABLE int find(const QString& text, int line, int direction) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QHash<int, QByteArray> roleNames() const override;

Q_SIGNALS:
  void changed();

private:
  QString title_, missing_, faultText_;
  QStringList lines_;
  std::vector<bool> inside_; ///< whether a line begins inside a comment or string
  mutable std::map<int, QString> html_;
  std::map<int, Note> notes_;
  std::shared_ptr<const LineRegisters> registers_;
  Language language_ = Language::Plain;
  int current_ = 0, widest_ = 0, fault_ = 0;
};

} // namespace uopscope
