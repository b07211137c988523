// A release on a page of its own: its pictures are drawn as wide as there is room.

import { $, part, place, room } from "./common.mjs";

const picture = document.querySelector("#released .picture");
if (picture) place(await part("released", `${location.pathname}?wide=${room(picture)}`));
document.body.dataset.ready = "yes";
