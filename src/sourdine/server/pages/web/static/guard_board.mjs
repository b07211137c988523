// The leaderboard alone, drawn as wide as there is room.

import { $, part, place } from "./common.mjs";

const told = `${location.pathname.replace(/\/leaderboard$/, "")}/told?wide=${Math.round($("board").clientWidth)}`;
place(await part("board", told));
document.body.dataset.ready = "yes";
