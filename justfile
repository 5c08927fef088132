# everything that CI checks; `just test --fast` for between two edits
test *args:
    cargo xtask test {{args}}
# the simulation; `just sim --seed 7 SCENARIO` replays one seed
sim *args:
    cargo xtask sim {{args}}
# the golden vectors; `just vectors --bless` rewrites them
vectors *args:
    cargo xtask vectors {{args}}
# what drifts unseen
tidy:
    cargo xtask tidy
# one fuzz target, nightly features not needed; `just fuzz --list` names them
fuzz *args:
    cargo xtask fuzz {{args}}
# speed, as ratios within one run
bench *args:
    cargo xtask bench {{args}}
