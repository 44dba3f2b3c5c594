-- What schema version 1 held after the story of store/sample_facts.cc, as its own program wrote it;
-- made by sqlite3's .dump. For the test of migrations; never edited.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE events (
  seq     INTEGER PRIMARY KEY,
  at_ms   INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  payload TEXT NOT NULL  -- JSON of the fact
) STRICT;
INSERT INTO events VALUES(1,1700000000000,'campaign-created','{"campaign":{"base":"main","created":1700000000000,"goal":{"conditions":{},"metric":"serve.tokens_per_s"},"id":"C-1","name":"nightly","planner":"builtin","policy":"version: 1\n# \"quotes\" and ümlauts\n","schedule":"0 22 * * 1-5","seed":"18364758544493064720","state":"active","target":"../target","time_zone":"Europe/Zurich"}}');
INSERT INTO events VALUES(2,1700000000000,'night-due','{"at":1700000050000,"campaign":"C-1","why":"the schedule"}');
INSERT INTO events VALUES(3,1700000000000,'night-started','{"night":{"base":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","campaign":"C-1","deadline":1700030000000,"ended":0,"id":"N-1","manifest":"version: 1\nname: bundled-engine\n","reason":"","seed":"7","settings":{"kda_decode.v_tile":"64"},"started":1700000100000,"state":"running"}}');
INSERT INTO events VALUES(4,1700000000000,'noise-measured','{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"machine":"bench-1","night":"N-1","noise":0.0125,"pairs":12,"probe":"kda_decode.bench"}');
INSERT INTO events VALUES(5,1700000000000,'timeline-read','{"base":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","experiment":"E-1","key":{"conditions":{"batch":"8"},"metric":"serve.tokens_per_s"},"night":"N-1","probe":"serve.trace","reason":"moe never appears","timeline":{"idle":0.0625,"missing":["moe"],"stacks":[{"share":0.125,"spans":["step"]},{"share":0.3333333333333333,"spans":["step","kda_*"]}]}}');
INSERT INTO events VALUES(6,1700000000005,'planner-spoke','{"turn":{"campaign":"C-1","night":"N-1","outcome":"proposed","planner":"llm","text":"asked: …","tokens":1234,"turn":1}}');
INSERT INTO events VALUES(7,1700000000005,'proposal-refused','{"campaign":"C-1","night":"N-1","origin":"llm","proposal":"v_tile = 7","reason":"not a choice"}');
INSERT INTO events VALUES(8,1700000000005,'hypothesis-opened','{"hypothesis":{"answers":[],"base":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","branch":"","campaign":"C-1","candidate":null,"change":{"branch":"","edits":[{"path":"kernels/x.h","replace":"int a = 2;\n","search":"int a = 1;\n"}],"knobs":[{"knob":"kda_decode.v_tile","value":"128"}],"text":"kda_decode.v_tile = 128, edits kernels/x.h"},"claim":"A wider v_tile keeps the Straße of vectors busy","cost_s":0.0,"evidence":null,"id":"H-1","merge_level":0.016666666666666666,"night":null,"opened":1700000200000,"origin":"person","parent":null,"paths":[],"prediction":{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"log_ratio":-0.5108256237659907,"text":"kda_decode.time{batch=1,len=64} -40%"},"reason":"","state":"queued","subject":{"kind":"kernel","name":"kda_decode"},"verdict":null}}');
INSERT INTO events VALUES(9,1700000000005,'hypothesis-taken','{"base":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","hypothesis":"H-1","night":"N-1","parent":null,"why":"the only one that waits"}');
INSERT INTO events VALUES(10,1700000000005,'candidate-made','{"branch":"night/H-1","commit":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","hypothesis":"H-1","paths":["kernels/knobs.yaml","kernels/x.h"]}');
INSERT INTO events VALUES(11,1700000000010,'experiment-started','{"experiment":{"alternatives":[{"can_answer":true,"cost_s":4.0,"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"noise":0.02,"pairs":9.0,"probe":"kda_decode.bench","question":"own-metric","reason":"chosen","share":1.0},{"can_answer":false,"cost_s":3600.0,"key":{"conditions":{},"metric":"serve.tokens_per_s"},"noise":0.03,"pairs":900.0,"probe":"engine.serve","question":"own-metric","reason":"1% of 4% share needs 900 pairs; the cap is 60","share":0.04}],"answer":null,"base":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","campaign":"C-1","candidate":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","cost_s":0.0,"estimate_s":12.5,"fresh_build":true,"hypothesis":"H-1","id":"E-1","key":{"conditions":{},"metric":""},"max_attempts":60,"merge":null,"night":"N-1","probe":"build","question":"builds","seed":"18446744073709551615","state":"running","why":"cheapest that can answer: 9 pairs, 4 s"}}');
INSERT INTO events VALUES(12,1700000000010,'run-recorded','{"run":{"artifacts":"E-1/0","attempt":0,"detail":"warm-up: 3","experiment":"E-1","id":"R-1","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1001.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":1,"side":"candidate","started":1700000300001,"timeline":{"idle":0.0625,"missing":["moe"],"stacks":[{"share":0.125,"spans":["step"]},{"share":0.3333333333333333,"spans":["step","kda_*"]}]},"wall_s":0.25}}');
INSERT INTO events VALUES(13,1700000000010,'experiment-finished','{"answer":{"evidence":null,"experiment":"E-1","question":"builds","reason":"it builds","verdict":"supported"},"cost_s":0.25,"experiment":"E-1"}');
INSERT INTO events VALUES(14,1700000000010,'question-answered','{"answer":{"evidence":null,"experiment":"E-1","question":"builds","reason":"it builds","verdict":"supported"},"hypothesis":"H-1"}');
INSERT INTO events VALUES(15,1700000000010,'experiment-started','{"experiment":{"alternatives":[{"can_answer":true,"cost_s":4.0,"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"noise":0.02,"pairs":9.0,"probe":"kda_decode.bench","question":"own-metric","reason":"chosen","share":1.0},{"can_answer":false,"cost_s":3600.0,"key":{"conditions":{},"metric":"serve.tokens_per_s"},"noise":0.03,"pairs":900.0,"probe":"engine.serve","question":"own-metric","reason":"1% of 4% share needs 900 pairs; the cap is 60","share":0.04}],"answer":null,"base":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","campaign":"C-1","candidate":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","cost_s":0.0,"estimate_s":12.5,"fresh_build":true,"hypothesis":"H-1","id":"E-2","key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"max_attempts":60,"merge":null,"night":"N-1","probe":"kda_decode.bench","question":"own-metric","seed":"18446744073709551615","state":"running","why":"cheapest that can answer: 9 pairs, 4 s"}}');
INSERT INTO events VALUES(16,1700000000015,'run-recorded','{"run":{"artifacts":"E-2/0","attempt":0,"detail":"warm-up: 3","experiment":"E-2","id":"R-2","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1002.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":0,"side":"base","started":1700000300002,"wall_s":0.25}}');
INSERT INTO events VALUES(17,1700000000015,'run-recorded','{"run":{"artifacts":"E-2/0","attempt":0,"detail":"warm-up: 3","experiment":"E-2","id":"R-3","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1003.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":1,"side":"candidate","started":1700000300003,"wall_s":0.25}}');
INSERT INTO events VALUES(18,1700000000015,'run-recorded','{"run":{"artifacts":"E-2/1","attempt":1,"detail":"warm-up: 3","experiment":"E-2","id":"R-4","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1004.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":0,"side":"base","started":1700000300004,"wall_s":0.25}}');
INSERT INTO events VALUES(19,1700000000015,'run-recorded','{"run":{"artifacts":"E-2/1","attempt":1,"detail":"warm-up: 3","experiment":"E-2","id":"R-5","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1005.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":1,"side":"candidate","started":1700000300005,"wall_s":0.25}}');
INSERT INTO events VALUES(20,1700000000015,'run-recorded','{"run":{"artifacts":"E-2/2","attempt":2,"detail":"warm-up: 3","experiment":"E-2","id":"R-6","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1006.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":0,"side":"base","started":1700000300006,"wall_s":0.25}}');
INSERT INTO events VALUES(21,1700000000020,'run-recorded','{"run":{"artifacts":"E-2/2","attempt":2,"detail":"warm-up: 3","experiment":"E-2","id":"R-7","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1007.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":1,"side":"candidate","started":1700000300007,"wall_s":0.25}}');
INSERT INTO events VALUES(22,1700000000020,'run-recorded','{"run":{"artifacts":"E-2/3","attempt":3,"detail":"warm-up: 3","experiment":"E-2","id":"R-8","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1008.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":0,"side":"base","started":1700000300008,"wall_s":0.25}}');
INSERT INTO events VALUES(23,1700000000020,'run-recorded','{"run":{"artifacts":"E-2/3","attempt":3,"detail":"warm-up: 3","experiment":"E-2","id":"R-9","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1009.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":1,"side":"candidate","started":1700000300009,"wall_s":0.25}}');
INSERT INTO events VALUES(24,1700000000020,'run-recorded','{"run":{"artifacts":"E-2/4","attempt":4,"detail":"warm-up: 3","experiment":"E-2","id":"R-10","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1010.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":0,"side":"base","started":1700000300010,"wall_s":0.25}}');
INSERT INTO events VALUES(25,1700000000020,'run-recorded','{"run":{"artifacts":"E-2/4","attempt":4,"detail":"warm-up: 3","experiment":"E-2","id":"R-11","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1011.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":1,"side":"candidate","started":1700000300011,"wall_s":0.25}}');
INSERT INTO events VALUES(26,1700000000025,'run-recorded','{"run":{"artifacts":"E-2/5","attempt":5,"detail":"warm-up: 3","experiment":"E-2","id":"R-12","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1012.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":0,"side":"base","started":1700000300012,"wall_s":0.25}}');
INSERT INTO events VALUES(27,1700000000025,'run-recorded','{"run":{"artifacts":"E-2/5","attempt":5,"detail":"warm-up: 3","experiment":"E-2","id":"R-13","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1013.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":1,"side":"candidate","started":1700000300013,"wall_s":0.25}}');
INSERT INTO events VALUES(28,1700000000025,'run-recorded','{"run":{"artifacts":"E-2/6","attempt":6,"detail":"warm-up: 3","experiment":"E-2","id":"R-14","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1014.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":0,"side":"base","started":1700000300014,"wall_s":0.25}}');
INSERT INTO events VALUES(29,1700000000025,'run-recorded','{"run":{"artifacts":"E-2/6","attempt":6,"detail":"warm-up: 3","experiment":"E-2","id":"R-15","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1015.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":1,"side":"candidate","started":1700000300015,"wall_s":0.25}}');
INSERT INTO events VALUES(30,1700000000025,'run-recorded','{"run":{"artifacts":"E-2/7","attempt":7,"detail":"warm-up: 3","experiment":"E-2","id":"R-16","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1016.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":0,"side":"base","started":1700000300016,"wall_s":0.25}}');
INSERT INTO events VALUES(31,1700000000030,'run-recorded','{"run":{"artifacts":"E-2/7","attempt":7,"detail":"warm-up: 3","experiment":"E-2","id":"R-17","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1017.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":1,"side":"candidate","started":1700000300017,"wall_s":0.25}}');
INSERT INTO events VALUES(32,1700000000030,'run-recorded','{"run":{"artifacts":"E-2/8","attempt":8,"detail":"warm-up: 3","experiment":"E-2","id":"R-18","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1018.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":0,"side":"base","started":1700000300018,"wall_s":0.25}}');
INSERT INTO events VALUES(33,1700000000030,'run-recorded','{"run":{"artifacts":"E-2/8","attempt":8,"detail":"warm-up: 3","experiment":"E-2","id":"R-19","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1019.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":1,"side":"candidate","started":1700000300019,"wall_s":0.25}}');
INSERT INTO events VALUES(34,1700000000030,'experiment-finished','{"answer":{"evidence":{"base_value":1234.5,"better":"lower","candidate_value":1000.25,"e_better":1e+100,"e_worse":0.0625,"effect":0.30000000000000004,"effect_text":"1.35x faster (1.28x to 1.40x)","flag":"above 10x","interval":[0.25,0.3333333333333333],"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"noise":0.0125,"pairs":9,"unit":"ns"},"experiment":"E-2","question":"own-metric","reason":"0.25 to 0.33 lies above 0","verdict":"supported"},"cost_s":4.5,"experiment":"E-2"}');
INSERT INTO events VALUES(35,1700000000030,'question-answered','{"answer":{"evidence":{"base_value":1234.5,"better":"lower","candidate_value":1000.25,"e_better":1e+100,"e_worse":0.0625,"effect":0.30000000000000004,"effect_text":"1.35x faster (1.28x to 1.40x)","flag":"above 10x","interval":[0.25,0.3333333333333333],"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"noise":0.0125,"pairs":9,"unit":"ns"},"experiment":"E-2","question":"own-metric","reason":"0.25 to 0.33 lies above 0","verdict":"supported"},"hypothesis":"H-1"}');
INSERT INTO events VALUES(36,1700000000035,'hypothesis-decided','{"evidence":{"base_value":1234.5,"better":"lower","candidate_value":1000.25,"e_better":1e+100,"e_worse":0.0625,"effect":0.30000000000000004,"effect_text":"1.35x faster (1.28x to 1.40x)","flag":"above 10x","interval":[0.25,0.3333333333333333],"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"noise":0.0125,"pairs":9,"unit":"ns"},"hypothesis":"H-1","reason":"all questions answered","verdict":"supported"}');
INSERT INTO events VALUES(37,1700000000035,'incumbent-chosen','{"hypothesis":"H-1","night":"N-1"}');
INSERT INTO events VALUES(38,1700000000035,'hypothesis-opened','{"hypothesis":{"answers":[],"base":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","branch":"","campaign":"C-1","candidate":null,"change":{"branch":"","edits":[{"path":"kernels/x.h","replace":"int a = 2;\n","search":"int a = 1;\n"}],"knobs":[{"knob":"kda_decode.v_tile","value":"128"}],"text":"kda_decode.v_tile = 128, edits kernels/x.h"},"claim":"A wider v_tile keeps the Straße of vectors busy","cost_s":0.0,"evidence":null,"id":"H-2","merge_level":0.016666666666666666,"night":"N-1","opened":1700000200000,"origin":"person","parent":null,"paths":[],"prediction":{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"log_ratio":-0.5108256237659907,"text":"kda_decode.time{batch=1,len=64} -40%"},"reason":"","state":"queued","subject":{"kind":"kernel","name":"kda_decode"},"verdict":null}}');
INSERT INTO events VALUES(39,1700000000035,'hypothesis-moved','{"hypothesis":"H-2","reason":"the person changed his mind","state":"cancelled"}');
INSERT INTO events VALUES(40,1700000000035,'merge-opened','{"merge":{"answers":[],"approved_at":0,"approved_by":"","approved_commit":null,"base":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","campaign":"C-1","candidate":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","hypothesis":"H-1","id":"M-1","known":"","landed_ref":"","merged":null,"night":"N-1","reason":"","remeasures":0,"state":"preparing","unknown":""}}');
INSERT INTO events VALUES(41,1700000000040,'merge-changed','{"base":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","known":"","landed_ref":"","merge":"M-1","merged":"cccccccccccccccccccccccccccccccccccccccc","reason":"merged","state":"measuring","unknown":""}');
INSERT INTO events VALUES(42,1700000000040,'experiment-started','{"experiment":{"alternatives":[{"can_answer":true,"cost_s":4.0,"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"noise":0.02,"pairs":9.0,"probe":"kda_decode.bench","question":"own-metric","reason":"chosen","share":1.0},{"can_answer":false,"cost_s":3600.0,"key":{"conditions":{},"metric":"serve.tokens_per_s"},"noise":0.03,"pairs":900.0,"probe":"engine.serve","question":"own-metric","reason":"1% of 4% share needs 900 pairs; the cap is 60","share":0.04}],"answer":null,"base":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","campaign":"C-1","candidate":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb","cost_s":0.0,"estimate_s":12.5,"fresh_build":true,"hypothesis":null,"id":"E-3","key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"max_attempts":60,"merge":"M-1","night":"N-1","probe":"kda_decode.bench","question":"own-metric","seed":"18446744073709551615","state":"running","why":"cheapest that can answer: 9 pairs, 4 s"}}');
INSERT INTO events VALUES(43,1700000000040,'run-recorded','{"run":{"artifacts":"E-3/0","attempt":0,"detail":"warm-up: 3","experiment":"E-3","id":"R-20","machine":{"load":0.5,"machine":"bench-1, 2 cores","mhz":3100.0,"sandbox":"bubblewrap","steal_s":0.001},"measured":true,"observations":[{"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"unit":"ns","value":1020.0},{"key":{"conditions":{},"metric":"kda_decode.gates"},"unit":"1","value":64.0}],"outcome":"ok","position":1,"side":"candidate","started":1700000300020,"wall_s":0.25}}');
INSERT INTO events VALUES(44,1700000000040,'experiment-cancelled','{"experiment":"E-3","reason":"the night ends"}');
INSERT INTO events VALUES(45,1700000000040,'merge-answered','{"answer":{"evidence":{"base_value":1234.5,"better":"lower","candidate_value":1000.25,"e_better":1e+100,"e_worse":0.0625,"effect":0.30000000000000004,"effect_text":"1.35x faster (1.28x to 1.40x)","flag":"above 10x","interval":[0.25,0.3333333333333333],"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"noise":0.0125,"pairs":9,"unit":"ns"},"experiment":"E-3","question":"correct","reason":"0.25 to 0.33 lies above 0","verdict":"supported"},"merge":"M-1"}');
INSERT INTO events VALUES(46,1700000000045,'merge-changed','{"base":null,"known":"faster alone","landed_ref":"","merge":"M-1","merged":null,"reason":"confirmed","state":"waiting","unknown":"engine"}');
INSERT INTO events VALUES(47,1700000000045,'merge-approved','{"at":1700001000000,"commit":"cccccccccccccccccccccccccccccccccccccccc","merge":"M-1","who":"ada"}');
INSERT INTO events VALUES(48,1700000000045,'merge-changed','{"base":null,"known":"","landed_ref":"","merge":"M-1","merged":null,"reason":"the base moved","state":"preparing","unknown":""}');
INSERT INTO events VALUES(49,1700000000045,'merge-changed','{"base":"dddddddddddddddddddddddddddddddddddddddd","known":"","landed_ref":"","merge":"M-1","merged":"eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee","reason":"merged","state":"measuring","unknown":""}');
INSERT INTO events VALUES(50,1700000000045,'merge-answered','{"answer":{"evidence":{"base_value":1234.5,"better":"lower","candidate_value":1000.25,"e_better":1e+100,"e_worse":0.0625,"effect":0.30000000000000004,"effect_text":"1.35x faster (1.28x to 1.40x)","flag":"above 10x","interval":[0.25,0.3333333333333333],"key":{"conditions":{"batch":"1","len":"64"},"metric":"kda_decode.time"},"noise":0.0125,"pairs":9,"unit":"ns"},"experiment":"E-3","question":"own-metric","reason":"0.25 to 0.33 lies above 0","verdict":"supported"},"merge":"M-1"}');
INSERT INTO events VALUES(51,1700000000050,'merge-changed','{"base":null,"known":"","landed_ref":"","merge":"M-1","merged":null,"reason":"confirmed","state":"waiting","unknown":""}');
INSERT INTO events VALUES(52,1700000000050,'merge-approved','{"at":1700002000000,"commit":"eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee","merge":"M-1","who":"grace"}');
INSERT INTO events VALUES(53,1700000000050,'merge-changed','{"base":null,"known":"","landed_ref":"refs/heads/main","merge":"M-1","merged":null,"reason":"","state":"landed","unknown":""}');
INSERT INTO events VALUES(54,1700000000050,'noted','{"campaign":"C-1","night":null,"text":"restarted"}');
INSERT INTO events VALUES(55,1700000000050,'night-ended','{"at":1700030000000,"night":"N-1","reason":"the deadline"}');
INSERT INTO events VALUES(56,1700000000055,'campaign-changed','{"campaign":"C-1","reason":"enough","state":"paused"}');
CREATE TABLE outbox (
  id      INTEGER PRIMARY KEY,
  kind    TEXT NOT NULL,
  payload TEXT NOT NULL
) STRICT;
INSERT INTO outbox VALUES(11,'run-attempt','{"experiment": "E-1"}');
INSERT INTO outbox VALUES(12,'run-attempt','{"experiment": "E-1"}');
CREATE TABLE counters (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counters VALUES('campaigns',1);
INSERT INTO counters VALUES('experiments',3);
INSERT INTO counters VALUES('hypotheses',2);
INSERT INTO counters VALUES('nights',1);
INSERT INTO counters VALUES('runs',20);
CREATE TABLE campaigns (
  id      INTEGER PRIMARY KEY,
  created INTEGER NOT NULL REFERENCES events,
  state   TEXT NOT NULL
) STRICT;
INSERT INTO campaigns VALUES(1,1,'paused');
CREATE TABLE nights (
  id       INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaigns,
  started  INTEGER NOT NULL REFERENCES events,
  state    TEXT NOT NULL,
  ended_ms INTEGER NOT NULL,
  reason   TEXT NOT NULL
) STRICT;
INSERT INTO nights VALUES(1,1,3,'ended',1700030000000,'the deadline');
CREATE TABLE hypotheses (
  id        INTEGER PRIMARY KEY,
  campaign  INTEGER NOT NULL REFERENCES campaigns,
  night     INTEGER REFERENCES nights,
  opened    INTEGER NOT NULL REFERENCES events,
  taken     INTEGER REFERENCES events,
  candidate INTEGER REFERENCES events,
  decided   INTEGER REFERENCES events,
  state     TEXT NOT NULL,
  verdict   TEXT,
  reason    TEXT NOT NULL,
  cost_s    REAL NOT NULL
) STRICT;
INSERT INTO hypotheses VALUES(1,1,1,8,9,10,36,'decided','supported','all questions answered',4.75);
INSERT INTO hypotheses VALUES(2,1,1,38,NULL,NULL,NULL,'cancelled',NULL,'the person changed his mind',0.0);
PRAGMA writable_schema=ON;
INSERT INTO sqlite_schema(type,name,tbl_name,rootpage,sql)VALUES('table','hypotheses_fts','hypotheses_fts',0,'CREATE VIRTUAL TABLE hypotheses_fts USING fts5
  (claim, reason, tokenize = ''unicode61 remove_diacritics 2'')');
CREATE TABLE IF NOT EXISTS 'hypotheses_fts_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO hypotheses_fts_data VALUES(1,X'021408');
INSERT INTO hypotheses_fts_data VALUES(10,X'000000000103030003010101020101030101');
INSERT INTO hypotheses_fts_data VALUES(137438953473,X'0000005b02306101020201046275737901020b01056b6565707301020601026f66010209010773747261c39f6501020801037468650102070203696c6501020501017601020402066563746f727301020a010577696465720102030406090a070c0808060b');
INSERT INTO hypotheses_fts_data VALUES(274877906945,X'000000a002306101030201020202026c6c010601010202076e737765726564010601010401046275737901030b01020b01056b6565707301030601020601026f6601030901020901097175657374696f6e730106010103010773747261c39f6501030801020801037468650103070102070203696c6501030501020501017601030401020402066563746f727301030a01020a010577696465720103030102030409090e0c0d0a100f0b0b090e');
INSERT INTO hypotheses_fts_data VALUES(412316860417,X'0000008e02306102030201046275737902030b01076368616e67656402060101040103686973020601010501056b6565707302030601046d696e64020601010601026f660203090106706572736f6e0206010103010773747261c39f6502030801037468650209070101020203696c6502030501017602030402066563746f727302030a010577696465720203030406090e0a0a0b070d0c0b08060b');
CREATE TABLE IF NOT EXISTS 'hypotheses_fts_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
INSERT INTO hypotheses_fts_idx VALUES(1,X'',2);
INSERT INTO hypotheses_fts_idx VALUES(2,X'',2);
INSERT INTO hypotheses_fts_idx VALUES(3,X'',2);
CREATE TABLE IF NOT EXISTS 'hypotheses_fts_content'(id INTEGER PRIMARY KEY, c0, c1);
INSERT INTO hypotheses_fts_content VALUES(1,'A wider v_tile keeps the Straße of vectors busy','all questions answered');
INSERT INTO hypotheses_fts_content VALUES(2,'A wider v_tile keeps the Straße of vectors busy','the person changed his mind');
CREATE TABLE IF NOT EXISTS 'hypotheses_fts_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
INSERT INTO hypotheses_fts_docsize VALUES(1,X'0a03');
INSERT INTO hypotheses_fts_docsize VALUES(2,X'0a05');
CREATE TABLE IF NOT EXISTS 'hypotheses_fts_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO hypotheses_fts_config VALUES('version',4);
CREATE TABLE answers (
  seq        INTEGER PRIMARY KEY REFERENCES events,
  hypothesis INTEGER NOT NULL REFERENCES hypotheses
) STRICT;
INSERT INTO answers VALUES(14,1);
INSERT INTO answers VALUES(35,1);
CREATE TABLE merges (
  id         INTEGER PRIMARY KEY,
  opened     INTEGER NOT NULL REFERENCES events,
  approved   INTEGER REFERENCES events,  -- the newest approval
  state      TEXT NOT NULL,
  reason     TEXT NOT NULL,
  base       TEXT NOT NULL,
  merged     TEXT NOT NULL,
  known      TEXT NOT NULL,
  unknown    TEXT NOT NULL,
  landed_ref TEXT NOT NULL,
  remeasures INTEGER NOT NULL
) STRICT;
INSERT INTO merges VALUES(1,40,52,'landed','','dddddddddddddddddddddddddddddddddddddddd','eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee','faster alone','engine','refs/heads/main',1);
CREATE TABLE merge_answers (
  seq   INTEGER PRIMARY KEY REFERENCES events,  -- about the newest merge commit only
  merge INTEGER NOT NULL REFERENCES merges
) STRICT;
INSERT INTO merge_answers VALUES(50,1);
CREATE TABLE experiments (
  id         INTEGER PRIMARY KEY,
  night      INTEGER REFERENCES nights,
  hypothesis INTEGER REFERENCES hypotheses,
  merge      INTEGER REFERENCES merges,
  started    INTEGER NOT NULL REFERENCES events,
  finished   INTEGER REFERENCES events,
  state      TEXT NOT NULL,
  cost_s     REAL NOT NULL
) STRICT;
INSERT INTO experiments VALUES(1,1,1,NULL,11,13,'finished',0.25);
INSERT INTO experiments VALUES(2,1,1,NULL,15,34,'finished',4.5);
INSERT INTO experiments VALUES(3,1,NULL,1,42,NULL,'cancelled',0.25);
CREATE TABLE runs (
  id         INTEGER PRIMARY KEY,
  experiment INTEGER NOT NULL REFERENCES experiments,
  recorded   INTEGER NOT NULL REFERENCES events
) STRICT;
INSERT INTO runs VALUES(1,1,12);
INSERT INTO runs VALUES(2,2,16);
INSERT INTO runs VALUES(3,2,17);
INSERT INTO runs VALUES(4,2,18);
INSERT INTO runs VALUES(5,2,19);
INSERT INTO runs VALUES(6,2,20);
INSERT INTO runs VALUES(7,2,21);
INSERT INTO runs VALUES(8,2,22);
INSERT INTO runs VALUES(9,2,23);
INSERT INTO runs VALUES(10,2,24);
INSERT INTO runs VALUES(11,2,25);
INSERT INTO runs VALUES(12,2,26);
INSERT INTO runs VALUES(13,2,27);
INSERT INTO runs VALUES(14,2,28);
INSERT INTO runs VALUES(15,2,29);
INSERT INTO runs VALUES(16,2,30);
INSERT INTO runs VALUES(17,2,31);
INSERT INTO runs VALUES(18,2,32);
INSERT INTO runs VALUES(19,2,33);
INSERT INTO runs VALUES(20,3,43);
CREATE TABLE observations (
  metric     TEXT NOT NULL,
  conditions TEXT NOT NULL,
  side       TEXT NOT NULL,
  run        INTEGER NOT NULL REFERENCES runs,
  ordinal    INTEGER NOT NULL,  -- within its run, from 0
  value      REAL NOT NULL,
  unit       TEXT NOT NULL,
  PRIMARY KEY (metric, conditions, side, run, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO observations VALUES('kda_decode.gates','','base',2,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','base',4,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','base',6,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','base',8,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','base',10,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','base',12,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','base',14,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','base',16,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','base',18,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','candidate',1,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','candidate',3,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','candidate',5,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','candidate',7,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','candidate',9,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','candidate',11,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','candidate',13,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','candidate',15,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','candidate',17,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','candidate',19,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.gates','','candidate',20,1,64.0,'1');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','base',2,0,1002.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','base',4,0,1004.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','base',6,0,1006.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','base',8,0,1008.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','base',10,0,1010.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','base',12,0,1012.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','base',14,0,1014.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','base',16,0,1016.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','base',18,0,1018.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','candidate',1,0,1001.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','candidate',3,0,1003.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','candidate',5,0,1005.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','candidate',7,0,1007.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','candidate',9,0,1009.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','candidate',11,0,1011.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','candidate',13,0,1013.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','candidate',15,0,1015.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','candidate',17,0,1017.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','candidate',19,0,1019.0,'ns');
INSERT INTO observations VALUES('kda_decode.time','batch=1,len=64','candidate',20,0,1020.0,'ns');
CREATE TABLE journal (
  seq      INTEGER PRIMARY KEY REFERENCES events,
  kind     TEXT NOT NULL,
  campaign INTEGER REFERENCES campaigns,
  night    INTEGER REFERENCES nights
) STRICT;
INSERT INTO journal VALUES(2,'night-due',1,NULL);
INSERT INTO journal VALUES(4,'noise-measured',NULL,1);
INSERT INTO journal VALUES(5,'timeline-read',NULL,1);
INSERT INTO journal VALUES(6,'planner-spoke',1,1);
INSERT INTO journal VALUES(7,'proposal-refused',1,1);
INSERT INTO journal VALUES(37,'incumbent-chosen',NULL,1);
INSERT INTO journal VALUES(54,'noted',1,NULL);
CREATE INDEX nights_of_campaign ON nights (campaign, id);
CREATE INDEX hypotheses_of_campaign ON hypotheses (campaign, id);
CREATE INDEX hypotheses_of_campaign_by_verdict ON hypotheses (campaign, verdict, id);
CREATE INDEX hypotheses_of_night ON hypotheses (night, id);
CREATE INDEX hypotheses_of_night_by_verdict ON hypotheses (night, verdict, id);
CREATE INDEX hypotheses_by_verdict ON hypotheses (verdict, id);
CREATE INDEX answers_of_hypothesis ON answers (hypothesis, seq);
CREATE INDEX answers_of_merge ON merge_answers (merge, seq);
CREATE INDEX experiments_of_night ON experiments (night, id);
CREATE INDEX experiments_of_hypothesis ON experiments (hypothesis, id) WHERE hypothesis IS NOT NULL;
CREATE INDEX experiments_of_merge ON experiments (merge, id) WHERE merge IS NOT NULL;
CREATE INDEX runs_of_experiment ON runs (experiment, id);
CREATE INDEX journal_of_night ON journal (night, kind, seq);
CREATE INDEX journal_of_campaign ON journal (campaign, kind, seq) WHERE night IS NULL;
PRAGMA writable_schema=OFF;
COMMIT;
PRAGMA application_id = 1314092134;
PRAGMA user_version = 1;
