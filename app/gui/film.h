// Drives the window by moves and grabs frames, for a film, for slides, or for one picture after some moves. Nobody sits in
// front of it, so it waits until a state is drawn before the next move.
//
//   if (!waitUntilDrawn(stage, "kernel=3&step=12")) return 2;      // a link, once the trace is open
//   QString fault = makeMove(stage, "click=Statistics");           // empty: done
//   QString fault = takeFilm(stage, "walk.gif", {"tab=stats", "do=next-step"}, 20, 10);
//
// A move is a link of the window, `do=ACTION` (an action of the table of keys), `click=TEXT` (what shows this text, or has
// this name), `double=TEXT`, `type=TEXT` into what has the keyboard, or `wait`. Invariant: a move that cannot be made is an
// error with a sentence, so a film never shows something else than its command says.
#pragma once
#include "viz/models/session/tools.h"

#include <QQuickWindow>

namespace uopscope {

struct FilmStage {
  QQuickWindow& window;
  Session& session;
  Tools& tools;
};

void say(const QString& text);
/// Waits until nothing is outstanding; follows `link` on the way, once the trace is there. False where the link leads
/// nowhere, which it has said.
bool waitUntilDrawn(FilmStage& stage, const QString& link = {});
/// Returns why the move could not be made; empty where it was.
QString makeMove(FilmStage& stage, const QString& move);
/// A film (.gif or .mp4) of the present state and of the state after each move; without moves, of the next `steps` steps.
/// It lasts about `seconds`; 0: a second a step, two a move. Returns the fault, or nothing.
QString takeFilm(FilmStage& stage, const QString& path, const QStringList& moves, int steps, double seconds);
/// The bookmarks of the trace as slides (.html).
QString takeSlides(FilmStage& stage, const QString& path);

} // namespace uopscope
