"""The words by which `domains.rules_agent` understands customers: Chinese, English, and both mixed.

Only tables stand here. Their order matters: the first row that matches is taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

Table: TypeAlias = Mapping[str, re.Pattern[str]]


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


IDS: Table = {
    "user_id": _words(r"(?<![a-z0-9])U\d{3}(?!\d)"),
    "order_id": _words(r"(?<![a-z0-9])W\d{3}(?!\d)"),
    "product_id": _words(r"(?<![a-z0-9])P\d{3}(?!\d)"),
    "item_id": _words(r"(?<![a-z0-9])I\d{4}(?!\d)"),
    "action_id": _words(r"(?<![a-z0-9])act_\w+"),
}

# Words that hold a keyword and mean something else; they are taken out before intents are sought.
NOT_MEANT = _words(
    r"(已经?|被|刚)(取消|退货|退款|换货)|取消了?的|cancell?ed|returned|refunded"
    r"|(不要|别|不想|不用|无需|不需要|先不)(再|去|帮我|给我)?(取消|退货|退款|换货|换|退|确认|执行)"
    r"|(don't|do not|not|without)\s+(want to\s+)?(cancel|return|exchange|refund|confirm)\w*"
    r"|(等我|待我|让我|回头|稍后|之后|先)再?确认|确认(一?下|看看|是不是|是否)|confirm (whether|if)"
)

REQUESTS: Table = {
    "request_address_update": _words(
        r"地址.{0,12}(改|换|更新|写错|填错)|(改|换|更新|修改|变更).{0,12}地址|改寄|转寄"
        r"|(change|update|new|correct).{0,30}address|address.{0,20}(change|update|to)"
    ),
    "request_exchange": _words(r"换|exchange|swap|replace"),
    "request_refund": _words(r"退款|退钱|退我|赔|补偿|refund|money back|reimburse"),
    "request_return": _words(
        r"退货|退回|退掉|退了|寄回|退还|要退|想退|return(?! polic)|send .*back"
    ),
    "request_cancel": _words(r"取消|撤单|退订|不要发货|别发货?了|砍单|cancel"),
}

READS: Table = {
    "get_return_policy": _words(
        r"政策|规定|规则|无理由|几天(内|之内)|多久.{0,6}[退换]|policy|policies"
        r"|(能不能|可不可以|可以|能|支持).{0,4}[退换]货?.{0,4}(吗|么|嘛|？|\?)"
    ),
    "check_stock": _words(
        r"库存|有货|现货|缺货|断货|没货|还有.{0,8}(吗|么|没)|in stock|stock|available"
    ),
    "list_orders": _words(r"订单|买过|下过.{0,4}单|买了(什么|哪些|啥)|orders?\b|purchases"),
    "get_user": _words(
        r"账户|账号|帐号|会员|资料|个人信息|手机号|邮箱|积分|account|profile|member"
    ),
    "get_order": _words(
        r"查|看看|看一?下|状态|进度|到哪|物流|快递|发货了?(没|吗)|什么时候到|多少钱|明细|详情|什么情况"
        r"|check|status|track|where|look|detail|show|arrive"
    ),
    "get_product": _words(
        r"介绍|参数|规格|款式|颜色|尺码|价格|多少钱|什么样|详情|看看|看一?下|查"
        r"|detail|spec|price|colou?r|variant|info|about|look|show|check"
    ),
}
READ_SUBJECT = {"get_order": "order_id", "get_product": "product_id"}

LOOK_FIRST = _words(r"先.{0,4}[查看]|查(一?下|询)|check|look up")

CONFIRM = _words(
    r"确认|确定|执行|直接(办|提交|处理|操作|搞定)|不用再问|别再问|就这么(办|定)|办了吧|说定|马上办"
    r"|confirm|go ahead|proceed|do it|execute"
)
ABORT = _words(
    r"算了|反悔|撤销|撤回|作废|放弃|撤掉|改主意|还是(不|别|留)"
    r"|abort|drop|never ?mind|withdraw|call it off"
    r"|(取消|cancel).{0,8}act_|act_\w+.{0,8}(取消|cancel)"
)
RESOLVERS: Table = {"abort_action": ABORT, "confirm_action": CONFIRM}

IDLE_TALK = _words(
    r"如果|要是|假如|假设|万一|随便问问|只是(问|想)|好奇|纠结|犹豫|你(觉得|认为|怎么看)|合理吗"
    r"|what if|suppose|hypothetical|just (wondering|curious)|would you|do you think|if i\b"
)
ORDERED_NOW = _words(r"帮我|帮忙|麻烦|请(?!问)|给我|替我|就(取消|退|换)|please|help me")

NO_NEED = (
    r"不要了|不想要|不需要|不用了|用不[上着]|不喜欢|改变主意|多余"
    r"|no longer|don't (need|want)|changed my mind"
)
CANCEL_REASONS: Table = {
    "ordered_by_mistake": _words(
        r"[下拍买点选]错|手滑|误[下拍点]|重复|拍重|多[下拍]了|mistake|accident|twice"
    ),
    "found_better_price": _words(r"便宜|更低|降价|比价|better price|cheaper|lower price"),
    "no_longer_needed": _words(NO_NEED),
    "other": _words(
        r"其[他它]原因|别的原因|因为|由于|太慢|太久|等不|because|other reason|too (slow|long|late)"
    ),
}
GOODS_REASONS: Table = {
    "wrong_item": _words(
        r"[发寄送拿]错|不是我[买订点要拍]|wrong (item|one|product|size|colou?r)|instead of"
    ),
    "not_as_described": _words(
        r"描述|不符|不一样|色差|图片|页面|详情页|as described|different from|match"
    ),
    "defective": _words(
        r"坏|故障|不亮|开不了|没反应|破|裂|漏|不能用|用不了|失灵|质量|瑕疵|没声音|充不[进上]|脱胶|变质"
        r"|defect|broken|broke|crack|damage|fault|leak|dead|(not|n't|stopped) work"
    ),
    "no_longer_needed": _words(NO_NEED),
    "other": _words(
        r"其[他它]原因|别的原因|不合适|太[大小紧松]|因为|由于"
        r"|because|other reason|fit|too (big|small)"
    ),
}
REASONS = {
    "request_cancel": CANCEL_REASONS,
    "request_return": GOODS_REASONS,
    "request_refund": GOODS_REASONS,
}

STATUSES: Table = {
    "pending": _words(r"待发货|未发货|没发货|还没发|待处理|待付款|pending"),
    "shipped": _words(r"已发货|在途|在路上|运输中|发出|shipped|on the way"),
    "delivered": _words(r"签收|送达|收到的|已收货|已完成|delivered"),
    "cancelled": _words(r"取消(了|掉|过)?的|已取消|cancell?ed"),
}
CATEGORIES: Table = {
    "electronics": _words(r"电子|数码|电器|耳机|手机|音箱|键盘|electronic|gadget|headphone"),
    "footwear": _words(r"鞋|靴|footwear|shoes?|sneakers?|boots?"),
    "clothing": _words(r"衣|服装|外套|夹克|T恤|裤|cloth|jacket|shirt"),
    "home": _words(r"家居|家具|家用|台灯|厨房|杯|home|lamp|kitchen"),
    "books": _words(r"图书|书籍|书本|本书|书的|买书|books?"),
    "food": _words(r"食品|零食|食物|茶叶|咖啡|food|snack|coffee|tea\b"),
}

DATE = re.compile(r"(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})")
AMOUNT = _words(r"[¥￥]\s*(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)\s*(?:元|块|rmb|cny|yuan)")
QUANTITY = _words(
    r"(?<![\d第])(\d{1,2}|[两二三四五六七八九])\s*(?:件|个|双|本|台|盒|包|只|瓶|pcs|pieces?|pairs?|units?)"
)
DIGITS = {"两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}

CITY = _words(
    r"(?:[\u4e00-\u9fff]{2,6}省)?\s*((?:北京|上海|天津|重庆|广州|深圳|杭州|南京|苏州|成都|武汉|西安|长沙|青岛"
    r"|厦门|宁波|郑州|合肥|福州|济南|大连|沈阳|昆明|无锡|佛山|东莞|[\u4e00-\u9fff]{2,3}(?=市))市?)"
    r"|\b(Beijing|Shanghai|Guangzhou|Shenzhen|Hangzhou|Nanjing|Suzhou|Chengdu|Wuhan|Xi'an)\b"
)
POSTAL_CODE = re.compile(r"(?<!\d)\d{6}(?!\d)")
STREET = _words(r"[路街道巷弄号区]|road|street|avenue|lane|\brd\b|\bst\b")
ADDRESS_START = _words(r"改成|改为|改到|改寄到?|换成|换到|更新为|更新成|寄到|送到|\bto\b|[：:]")
ADDRESS_LABELS: Table = {
    "recipient": _words(r"^(收件人|收货人|姓名|recipient|name)\s*(改成|是|为|叫|is|[：:])?\s*"),
    "street": _words(r"^(街道|详细地址|地址|street|address)\s*(是|为|is|[：:])?\s*"),
    "city": _words(r"^(城市|city)\s*(是|为|is|[：:])?\s*"),
    "postal_code": _words(
        r"^(邮编|邮政编码|postal code|postcode|zip( code)?)\s*(是|为|is|[：:])?\s*"
    ),
    "country": _words(r"^(国家|country)\s*(是|为|is|[：:])?\s*"),
}

SENTENCE_END = re.compile(
    r"[。！!？?；;\n]|\.(?=\s|$)|[，,]?\s*(?:然后|接着|另外|顺便|之后再|and then|, then|also)"
    r"|[，,]再",
    re.IGNORECASE,
)
CLAUSE_END = re.compile(r"[，,。！!；;（）()\n]|\.(?=\s|$)")
